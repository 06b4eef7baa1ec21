#!/bin/sh
# Starts two nodes of one fleet on this machine: one in this folder, one with a copy of its file.
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
herdctl trigger builder --wait   # runs on the other node, which has the label
herdctl trigger keeper --wait
herdctl trigger keeper --wait    # in the same session, therefore on the same node
herdctl jobs
