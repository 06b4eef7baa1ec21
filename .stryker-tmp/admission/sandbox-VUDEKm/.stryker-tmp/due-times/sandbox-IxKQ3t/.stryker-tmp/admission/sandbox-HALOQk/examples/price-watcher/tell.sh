# Gets the job on standard input. Replace this by a notification: mail, a push service, notify-send.
set -eu
cat >> bargains.jsonl
