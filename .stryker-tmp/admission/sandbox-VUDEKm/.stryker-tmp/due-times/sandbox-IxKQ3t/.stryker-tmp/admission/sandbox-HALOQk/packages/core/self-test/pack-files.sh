#!/bin/sh
# Run by `herdctl doctor` in a container as an agent has it: packs whatever its user can read, but
# for programs and what is too large to be a credential, onto standard output.
places() {
  for place in /etc /home /media /mnt /opt /root /run /srv /tmp /var; do
    [ -d "$place" ] && printf '%s\0' "$place"
  done
  while read -r _ _ _ _ target _; do
    case $target in / | /proc* | /sys* | /dev*) continue ;; esac
    printf '%b\0' "$target"
  done </proc/self/mountinfo
}
places | xargs -0 sh -c '
  for place; do
    find "$place" -xdev \( -name node_modules -o -path "*/.git/objects" \) -prune \
      -o -type f -size -2048k -readable -print0 2>/dev/null
  done
' sh | tar --null --files-from=- --no-recursion -cf - 2>/dev/null
