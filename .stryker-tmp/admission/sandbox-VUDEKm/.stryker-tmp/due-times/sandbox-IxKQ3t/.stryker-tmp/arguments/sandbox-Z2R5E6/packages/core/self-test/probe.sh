#!/bin/sh
# Run by `herdctl doctor` in a container as an agent has it: looks at what it is, and tries every way
# out. It judges nothing; that is done outside, where the agent's configuration is known.
# Arguments: a token to send to any server reached, whether the proxies are `closed` or `open`, the port
# where this machine listens, its addresses.
word=$1 proxies=$2 port=$3
shift 3
tab=$(printf '\t')

# One line each: what, name, value.
tell() { printf '%s\t%s\t%s\n' "$1" "$2" "$(printf '%s' "$3" | tr '\n\t' '  ')"; }

# try KIND TARGET COMMAND…: whether something got there.
try() {
  name="$1 $2"
  shift 2
  command -v "$1" >/dev/null || { tell untried "$name" "the image has no $1"; return; }
  if said=$(printf '%s\n' "$word" | timeout 4 "$@" 2>&1); then
    tell reached "$name" "$said"
  else
    tell stopped "$name" "${said##*: }"
  fi
}

status() { sed -n "s/^$1:[[:space:]]*//p" /proc/self/status; }
first() { for file; do [ -r "$file" ] && { cat "$file"; return; }; done; }

tell fact uid "$(id -u)"
tell fact gid "$(id -g)"
for name in CapEff CapBnd NoNewPrivs Seccomp; do tell fact "$name" "$(status "$name")"; done
if (: >/herdctl-self-test) 2>/dev/null; then
  rm -f /herdctl-self-test
  tell fact root writable
else
  tell fact root read-only
fi
tell fact memory "$(first /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes)"
tell fact pids "$(first /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max)"
tell fact interfaces "$(ls /sys/class/net)"
tell fact routes "$(sed 1d /proc/net/route; grep -v ' lo$' /proc/net/ipv6_route)"

for file in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do
  [ -r "$file" ] && tell process "$file" "$(tr '\0' ' ' <"$file")"
done

for address in 1.1.1.1:443 8.8.8.8:53 169.254.169.254:80; do
  try TCP "$address" socat -u - "TCP4:$address,connect-timeout=3" &
done
for address in '[2606:4700:4700::1111]:443' '[fd00:ec2::254]:80'; do
  try TCP "$address" socat -u - "TCP6:$address,connect-timeout=3" &
done
try UDP 8.8.8.8:53 socat -u - UDP4-SENDTO:8.8.8.8:53 &
try UDP '[2001:4860:4860::8888]:53' socat -u - 'UDP6-SENDTO:[2001:4860:4860::8888]:53' &
try DNS example.com getent ahosts example.com &
for address; do
  # The loopback in here is the container's own.
  case $address in
    *:*) four='' at="[$address]:$port" ;;
    *) four=4 at="$address:$port" ;;
  esac
  try 'host TCP' "$at" socat -u - "TCP${four:-6}:$at,connect-timeout=3" &
  try 'host UDP' "$at" socat -u - "UDP${four:-6}-SENDTO:$at" &
done
wait

# Sockets that lie in a mounted folder lead to whoever listens outside.
find / -xdev -type s -print 2>/dev/null >/tmp/sockets
while read -r _ _ _ _ target _; do
  case $target in / | /proc* | /sys* | /dev*) continue ;; esac
  find "$(printf '%b' "$target")" -xdev -type s -print 2>/dev/null >>/tmp/sockets
done </proc/self/mountinfo
while IFS=$tab read -r socket; do
  case $socket in /run/herdctl/proxy/*) continue ;; esac
  try socket "$socket" socat -u - "UNIX-CONNECT:$socket"
done </tmp/sockets

# Our own proxies must not lead further than they should.
[ "$proxies" = open ] ||
  try gateway 'GET /v1/files' curl -sS --fail -o /dev/null \
    ${ANTHROPIC_UNIX_SOCKET:+--unix-socket "$ANTHROPIC_UNIX_SOCKET"} \
    -H "x-api-key: ${ANTHROPIC_API_KEY:-}" "${ANTHROPIC_BASE_URL:-http://localhost}/v1/files"
if [ -n "${HERDCTL_PROXY_SOCKET:-}" ]; then
  for address in 169.254.169.254:80 "127.0.0.1:$port"; do
    try proxy "$address" curl -sS --fail -o /dev/null -x http://127.0.0.1:3128 "http://$address/$word"
  done
fi
tell done self-test ''
