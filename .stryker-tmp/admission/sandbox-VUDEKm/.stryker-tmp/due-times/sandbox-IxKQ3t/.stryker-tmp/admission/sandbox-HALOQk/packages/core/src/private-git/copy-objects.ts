import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { safeGit } from "./safe-git.ts";
import { listUntrusted, openUntrusted } from "./untrusted-file.ts";

/** Limits for objects copied from a container; the job gets a warning if they are exceeded. */
export const objectLimits = { files: 500_000, bytes: 4 * 1024 ** 3 };

class TooManyObjects extends Error {
  override readonly name = "TooManyObjects";
}

/**
 * Copies loose objects and packs that a container has written to one of our repositories. Pack
 * indexes, commit graphs, alternates and so on are not copied: git indexes each pack again.
 */
export async function copyUntrustedObjects(
  sourceObjects: string,
  targetRepository: string,
  limits: typeof objectLimits = objectLimits,
): Promise<{ warnings: string[] }> {
  const remaining = { ...limits };
  const warnings: string[] = [];
  for (const { name, kind } of await listUntrusted(sourceObjects)) {
    if (kind !== "folder" || !/^[\da-f]{2}$/.test(name)) continue;
    for (const entry of await listUntrusted(join(sourceObjects, name))) {
      if (entry.kind !== "file" || !/^[\da-f]{38}([\da-f]{24})?$/.test(entry.name)) continue;
      await copyObject(
        sourceObjects,
        `${name}/${entry.name}`,
        join(targetRepository, "objects"),
        remaining,
      );
    }
  }
  for (const { name, kind } of await listUntrusted(join(sourceObjects, "pack"))) {
    if (kind !== "file" || !/^pack-[\da-f]{40}([\da-f]{24})?\.pack$/.test(name)) continue;
    if (
      !(await copyObject(
        sourceObjects,
        `pack/${name}`,
        join(targetRepository, "objects"),
        remaining,
      ))
    )
      continue;
    const pack = join(targetRepository, "objects/pack", name);
    try {
      await safeGit(["index-pack", pack], { gitDir: targetRepository });
    } catch (error) {
      await rm(pack, { force: true });
      const reason = error instanceof Error ? error.message : String(error);
      warnings.push(`a pack of objects could not be read: ${reason}`);
    }
  }
  return { warnings };
}

async function copyObject(
  from: string,
  relativePath: string,
  to: string,
  remaining: { files: number; bytes: number },
): Promise<boolean> {
  const source = await openUntrusted(from, relativePath);
  if (source === undefined) return false;
  try {
    remaining.files -= 1;
    remaining.bytes -= source.bytes;
    if (remaining.files < 0 || remaining.bytes < 0) {
      throw new TooManyObjects("its objects exceed the limits for import from a container");
    }
    if (source.bytes === 0) return false;
    const target = join(to, relativePath);
    await mkdir(join(target, ".."), { recursive: true });
    // Copy only the counted bytes, even if the file grows in the meantime.
    const end = source.bytes - 1;
    const stream = source.handle.createReadStream({ start: 0, end, autoClose: false });
    await pipeline(stream, createWriteStream(target, { flags: "wx", mode: 0o444 }));
    return true;
  } finally {
    await source.handle.close();
  }
}
