import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Pack, pack } from "tar-stream";

export interface PackedFile {
  name: string;
  path: string;
  mode: number;
}

/** An archive of these files, read only as fast as it is sent. */
export function packFiles(files: PackedFile[]): Readable {
  const archive = pack();
  addAll(archive, files).catch((error: Error) => archive.destroy(error));
  return Readable.from(archive);
}

async function addAll(archive: Pack, files: PackedFile[]): Promise<void> {
  for (const { name, path, mode } of files) {
    const { size } = await stat(path);
    // The time would make an archive differ that is the same.
    const entry = archive.entry({ name, size, mode, mtime: new Date(0) });
    await pipeline(createReadStream(path), entry);
  }
  archive.finalize();
}
