# Clones the code to review/code and writes each of the 20 newest pull requests to review/changes.
set -eu
mkdir -p review/changes
test -d review/code || git clone -q "$REPOSITORY_URL" review/code
cd review/code
git fetch -q origin
git checkout -q --detach origin/HEAD

newest=$(git ls-remote origin 'refs/pull/*/head' | sed 's:.*refs/pull/\(.*\)/head:\1:' | sort -n | tail -20)
for number in $newest; do
  git fetch -q origin "+refs/pull/$number/head:refs/remotes/pull/$number"
  git diff "origin/HEAD...refs/remotes/pull/$number" > "../changes/$number.diff"
done
