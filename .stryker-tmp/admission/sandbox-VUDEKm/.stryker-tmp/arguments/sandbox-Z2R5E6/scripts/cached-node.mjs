// `node scripts/cached-node.mjs 22.23.3` prints the folder with a `node` of this version, which is
// downloaded once and cached.
import { join } from "node:path";
import { cachePath, fillCache, isCached } from "./docker-engine/cache.mjs";
import { fetchNode } from "./fetch-node.mjs";

const version = process.argv[2];
const cached = cachePath("node", [`node-${process.platform}-${process.arch}@${version}`]);
if (!isCached(cached)) await fillCache(cached, (draft) => fetchNode(version, draft));
process.stdout.write(`${join(cached, "package/bin")}\n`);
