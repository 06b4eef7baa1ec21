import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { safeGit } from "./safe-git.ts";
import { listUntrusted, openUntrusted } from "./untrusted-file.ts";

/** More than this is not brought out of a container; the job says so. */
export const objectLimits = { files: 500_000, bytes: 4 * 1024 ** 3 };

class TooManyObjects extends Error {
  override readonly name = "TooManyObjects";
}

/**
 * Copies loose objects and packs that a container has written into a repository of ours. Indexes of
 * packs, graphs, alternates and the like are not taken over: git makes its own index of each pack.
 */
export async function copyUntrustedObjects(
  objects: string,
  bare: string,
  limits: typeof objectLimits = objectLimits,
): Promise<{ warnings: string[] }> {
  const left = { ...limits };
  const warnings: string[] = [];
  for (const { name: fan, kind } of await listUntrusted(objects)) {
    if (kind !== "folder" || !/^[\da-f]{2}$/.test(fan)) continue;
    for (const entry of await listUntrusted(join(objects, fan))) {
      if (entry.kind !== "file" || !/^[\da-f]{38}([\da-f]{24})?$/.test(entry.name)) continue;
      await copy(objects, `${fan}/${entry.name}`, join(bare, "objects"), left);
    }
  }
  for (const { name, kind } of await listUntrusted(join(objects, "pack"))) {
    if (kind !== "file" || !/^pack-[\da-f]{40}([\da-f]{24})?\.pack$/.test(name)) continue;
    if (!(await copy(objects, `pack/${name}`, join(bare, "objects"), left))) continue;
    const pack = join(bare, "objects/pack", name);
    try {
      await safeGit(["index-pack", pack], { gitDir: bare });
    } catch (error) {
      await rm(pack, { force: true });
      const why = error instanceof Error ? error.message : String(error);
      warnings.push(`a pack of objects could not be read: ${why}`);
    }
  }
  return { warnings };
}

async function copy(
  from: string,
  inner: string,
  to: string,
  left: { files: number; bytes: number },
): Promise<boolean> {
  const source = await openUntrusted(from, inner);
  if (source === undefined) return false;
  try {
    left.files -= 1;
    left.bytes -= source.bytes;
    if (left.files < 0 || left.bytes < 0) {
      throw new TooManyObjects("its objects are more than may be brought out of a container");
    }
    if (source.bytes === 0) return false;
    const target = join(to, inner);
    await mkdir(join(target, ".."), { recursive: true });
    // No more than was counted, whatever is added to it meanwhile.
    const end = source.bytes - 1;
    const stream = source.handle.createReadStream({ start: 0, end, autoClose: false });
    await pipeline(stream, createWriteStream(target, { flags: "wx", mode: 0o444 }));
    return true;
  } finally {
    await source.handle.close();
  }
}
