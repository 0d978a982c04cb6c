#!/bin/sh
# Use a service from a shell: add two documents, query a text, check a paper.
#
# Usage: sh client.sh PAPER [http://127.0.0.1:8765]
#
# Start the service first: neardup serve --index news.db
# The environment variable NEARDUP_KEY may contain a key of the service. Needs curl.
set -eu

paper=${1:?name a paper: a .docx, .pdf or .txt file}
service=${2:-http://127.0.0.1:8765}

# If the service is busy or cannot be reached (429, 503, 504, or no answer), curl tries again.
ask() {
    curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused \
        ${NEARDUP_KEY:+--header "Authorization: Bearer $NEARDUP_KEY"} "$@"
}

# Print the value of a member of a small JSON object; jq is more general.
member() {
    sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

json='Content-Type: application/json'

echo 'Add a document, and one that repeats it:'
ask --header "$json" "$service/v1/documents" --data '{"documents": [
    {"id": "shell/1", "text": "下周一起，三号桥夜间封闭施工，过往车辆请绕行二号桥，工期预计两周。"},
    {"id": "shell/2", "text": "（本报讯）下周一起，三号桥夜间封闭施工，过往车辆请绕行二号桥，工期预计两周。"}
]}'
echo

echo 'Has this text been seen before?'
ask --header "$json" "$service/v1/query" --data '{
    "text": "下周一起，三号桥夜间封闭施工，过往车辆请绕行二号桥，工期预计两周！", "k": 3
}'
echo

echo 'Which parts of the paper occur in the index?'
job=$(ask "$service/v1/check" --form "file=@$paper" --form library=index | member job)
while :; do
    check=$(ask "$service/v1/check/$job")
    case $(printf %s "$check" | member state) in
        queued | running) sleep 1 ;;
        *) break ;;
    esac
done
echo "$check"
ask --output report.html "$service/v1/check/$job/report?language=zh" && echo 'Report: report.html'
