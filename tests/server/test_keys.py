"""The file of API keys."""

import os
import stat
import threading

import pytest

from neardup.exceptions import InputError, OutputError, ParameterError
from neardup.server.security.keys import Keys, create_key, read_keys, revoke_key
from tests import needs


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.json"


def test_a_key_is_found_and_no_other(path):
    secret, made = create_key(path, "crawler", ["write", "read"])
    keys = Keys(path)
    assert keys.find(secret) == made
    assert keys.of_digest(made.digest) == made
    assert made.scopes == ("read", "write")
    for other in ("", secret[:-1], secret + "a", secret.upper(), made.digest, "\ud800", "é"):
        assert keys.find(other) is None


def test_the_file_does_not_have_the_key(path):
    secret, made = create_key(path, "crawler", ["read"])
    text = path.read_text("utf-8")
    assert secret not in text
    assert secret[8:] not in text
    assert made.last == secret[-4:]
    assert len(secret) >= 8 + 43


@pytest.mark.skipif(os.name != "posix", reason=needs.POSIX)
def test_only_the_owner_reads_it(path):
    before = os.umask(0)
    try:
        create_key(path, "one", ["read"])
        create_key(path, "two", ["read"])
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["keys.json"]


@pytest.mark.skipif(os.name != "posix", reason=needs.POSIX)
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_lets_nobody_in(path, mode):
    secret, _ = create_key(path, "one", ["read"])
    path.chmod(mode)
    assert Keys(path).find(secret) is None
    with pytest.raises(InputError, match="chmod 600"):
        read_keys(path)


def test_new_and_revoked_keys_are_known_at_once(path):
    secret, _ = create_key(path, "one", ["read"])
    keys = Keys(path)
    assert keys.find(secret) is not None
    other, _ = create_key(path, "two", ["read"])
    assert keys.find(other) is not None
    revoke_key(path, "one")
    assert keys.find(secret) is None
    assert [key.name for key in keys] == ["two"]


@pytest.mark.parametrize(
    "damage",
    [
        *("", "{", "[]", "\0"),
        '{"format": 2, "keys": []}',
        '{"format": 1, "keys": [{"name": "a"}]}',
        # A scope that there is not, and no file.
        ("read", "admin"),
        None,
    ],
)
def test_a_damaged_file_lets_nobody_in(path, damage):
    secret, _ = create_key(path, "one", ["read"])
    keys = Keys(path)
    assert keys.find(secret) is not None
    if damage is None:
        path.unlink()
    else:
        text = path.read_text().replace(*damage) if isinstance(damage, tuple) else damage
        path.write_text(text)
    assert keys.find(secret) is None
    with pytest.raises(InputError):
        read_keys(path)
    if damage is not None:
        with pytest.raises(InputError):
            create_key(path, "two", ["read"])
        assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "scopes", "parameter"),
    [
        *((name, ["read"], "name") for name in ("", " a", "a\nb", "a\x00", "x" * 101, "there")),
        *(("one", scopes, "scope") for scopes in ([], ["admin"], ["read", "all"])),
    ],
)
def test_bad_names_and_scopes(path, name, scopes, parameter):
    create_key(path, "there", ["read"])
    before = path.read_text()
    with pytest.raises(ParameterError) as caught:
        create_key(path, name, scopes)
    assert caught.value.values.get("parameter", "name") == parameter
    assert path.read_text() == before
    with pytest.raises(ParameterError):
        revoke_key(path, "two")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        create_key(tmp_path / "no" / "keys.json", "one", ["read"])


def test_making_many_at_once_loses_none(path):
    threads = [
        threading.Thread(target=create_key, args=(path, f"key {number}", ["read"]))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({key.digest for key in Keys(path)}) == 8
