#!/bin/sh
# Two nodes of one fleet on this machine: this folder, and a copy of its file elsewhere.
set -eu
other=$(mktemp -d)
cp herdctl.yaml "$other"
leave() {
  herdctl stop --now --config "$other/herdctl.yaml" || true
  herdctl stop --now || true
  rm -rf "$other"
}
trap leave EXIT

herdctl start --detach --node-name desk
herdctl start --detach --node-name rack --labels builds --capacity 2 --config "$other/herdctl.yaml"
herdctl nodes

herdctl trigger reader --wait
herdctl trigger builder --wait   # goes to the other node, which has the label
herdctl trigger keeper --wait
herdctl trigger keeper --wait    # in the same session, and so on the same node
herdctl jobs
