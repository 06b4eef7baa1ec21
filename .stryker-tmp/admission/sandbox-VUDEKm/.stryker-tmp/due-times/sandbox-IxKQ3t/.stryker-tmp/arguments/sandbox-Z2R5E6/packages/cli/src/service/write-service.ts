import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface ServiceFile {
  path: string;
  text: string;
  mode: number;
}

/** Writes the files. Returns whether any of them changed. */
export function writeService(files: readonly ServiceFile[]): boolean {
  return files.map(writeOne).some(Boolean);
}

function writeOne({ path, text, mode }: ServiceFile): boolean {
  const isSame = existsSync(path) && readFileSync(path, "utf8") === text;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Writing does not change the mode of an existing file, so set the mode before the content.
  if (existsSync(path)) chmodSync(path, mode);
  if (!isSame) writeFileSync(path, text, { mode });
  return !isSame;
}
