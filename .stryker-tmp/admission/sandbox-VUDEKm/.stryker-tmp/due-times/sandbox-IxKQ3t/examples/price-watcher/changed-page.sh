# Prints the page if it has changed since the last time. Otherwise the gate stays closed.
set -eu
mkdir -p found
curl -fsSL --max-time 20 "${PAGE_URL:-file://$PWD/shop/desk.html}" > found/page.new
if cmp -s found/page.new found/page.seen; then
  echo "The page has not changed."
  exit 1
fi
mv found/page.new found/page.seen
cat found/page.seen
