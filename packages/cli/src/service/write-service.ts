import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface ServiceFile {
  path: string;
  text: string;
  mode: number;
}

/** Whether anything was different from what lay there. */
export function writeService(files: readonly ServiceFile[]): boolean {
  return files.map(writeOne).some(Boolean);
}

function writeOne({ path, text, mode }: ServiceFile): boolean {
  const isSame = existsSync(path) && readFileSync(path, "utf8") === text;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // A file that is there keeps its mode when it is written, so that comes first.
  if (existsSync(path)) chmodSync(path, mode);
  if (!isSame) writeFileSync(path, text, { mode });
  return !isSame;
}
