"""The file of API keys."""

import json
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


def test_keys_differ(path):
    secrets = {create_key(path, f"key {number}", ["read"])[0] for number in range(20)}
    assert len(secrets) == 20
    assert len(list(Keys(path))) == 20


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


def test_what_is_revoked_is_refused_at_once(path):
    secret, _ = create_key(path, "one", ["read"])
    other, _ = create_key(path, "two", ["read"])
    keys = Keys(path)
    assert keys.find(secret) is not None
    revoke_key(path, "one")
    assert keys.find(secret) is None
    assert keys.find(other) is not None


def test_what_is_made_is_known_at_once(path):
    create_key(path, "one", ["read"])
    keys = Keys(path)
    assert len(list(keys)) == 1
    secret, _ = create_key(path, "two", ["read"])
    assert keys.find(secret) is not None


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", '{"format": 2, "keys": []}', '{"format": 1, "keys": [{"name": "a"}]}', "\0"],
)
def test_a_damaged_file_lets_nobody_in(path, damage):
    secret, _ = create_key(path, "one", ["read"])
    keys = Keys(path)
    assert keys.find(secret) is not None
    path.write_text(damage)
    assert keys.find(secret) is None
    with pytest.raises(InputError, match=r"keys\.json: must be a file of API keys"):
        read_keys(path)
    with pytest.raises(InputError):
        create_key(path, "two", ["read"])
    assert path.read_text() == damage


def test_unknown_scopes_in_the_file_let_nobody_in(path):
    secret, _ = create_key(path, "one", ["read"])
    table = json.loads(path.read_text())
    table["keys"][0]["scopes"] = ["admin"]
    path.write_text(json.dumps(table))
    assert Keys(path).find(secret) is None


def test_a_file_that_goes_lets_nobody_in(path):
    secret, _ = create_key(path, "one", ["read"])
    keys = Keys(path)
    assert keys.find(secret) is not None
    path.unlink()
    assert keys.find(secret) is None
    with pytest.raises(InputError, match="serve key create"):
        read_keys(path)


@pytest.mark.parametrize("name", ["", " a", "a\nb", "a\x00", "x" * 101])
def test_bad_names(path, name):
    with pytest.raises(ParameterError, match="'name' parameter"):
        create_key(path, name, ["read"])
    assert not path.exists()


@pytest.mark.parametrize("scopes", [[], ["admin"], ["read", "all"]])
def test_bad_scopes(path, scopes):
    with pytest.raises(ParameterError, match="'scope' parameter"):
        create_key(path, "one", scopes)


def test_names_are_taken_once(path):
    create_key(path, "one", ["read"])
    with pytest.raises(ParameterError, match="a key of the name 'one' already"):
        create_key(path, "one", ["write"])
    with pytest.raises(ParameterError, match="There are: 'one'"):
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
    assert len(list(Keys(path))) == 8
