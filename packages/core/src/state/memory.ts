import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeFileAtomic } from "./atomic-file.ts";

export interface Note {
  name: string;
  bytes: number;
  changed_at: string;
}

export type Noted = { kind: "noted" } | { kind: "refused"; reason: string };

const largestNote = 16 * 1024;
const mostNotes = 200;
/** Of each note, the one in force among them. */
const versionsKept = 10;
const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Lower case only: two notes must not be one file on a disk that knows no case. */
export function isNoteName(name: string): boolean {
  return namePattern.test(name) && !name.endsWith(".md");
}

export function memoryDir(stateDir: string, agent: string): string {
  return join(stateDir, "memory", agent);
}

/**
 * The notes of one agent, as files that people can read and write: `<name>.md`. Runs at the same
 * time see whole notes only, and every version that was ever written is in `.history` for a while,
 * so that the slower of two takes nothing away for good.
 */
export class Memory {
  constructor(readonly folder: string) {}

  async list(): Promise<Note[]> {
    const names = (await namesIn(this.folder)).flatMap(nameOfFile).sort();
    return await Promise.all(
      names.map(async (name) => {
        const { size, mtime } = await stat(this.fileOf(name));
        return { name, bytes: size, changed_at: mtime.toISOString() };
      }),
    );
  }

  async read(name: string): Promise<string | undefined> {
    return isNoteName(name) ? await readIfThere(this.fileOf(name)) : undefined;
  }

  async write(name: string, text: string): Promise<Noted> {
    if (!isNoteName(name)) return refused(wrongName(name));
    if (Buffer.byteLength(text) > largestNote)
      return refused(`a note has at most ${largestNote / 1024} KB; split it, or say less`);
    const others = (await this.list()).filter((one) => one.name !== name);
    if (others.length >= mostNotes)
      return refused(`there are ${mostNotes} notes, which is the most; delete some first`);
    await this.keepHandWritten(name);
    await this.keepVersion(name, text);
    await writeFileAtomic(this.fileOf(name), text);
    return { kind: "noted" };
  }

  /** Its last versions stay in the history. False when there is none. */
  async delete(name: string): Promise<boolean> {
    if ((await this.read(name)) === undefined) return false;
    await this.keepHandWritten(name);
    await rm(this.fileOf(name), { force: true });
    await syncFolder(this.folder);
    return true;
  }

  /** What a person wrote is in the file only. */
  private async keepHandWritten(name: string): Promise<void> {
    const now = await this.read(name);
    const folder = this.historyOf(name);
    const newest = (await versionsIn(folder)).at(-1);
    const known = newest === undefined ? undefined : await readIfThere(join(folder, newest));
    if (now !== undefined && now !== known) await this.keepVersion(name, now);
  }

  private async keepVersion(name: string, text: string): Promise<void> {
    const folder = this.historyOf(name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const newest = (await versionsIn(folder)).at(-1);
    await writeFileAtomic(join(folder, versionAfter(newest, Date.now())), text);
    const old = (await versionsIn(folder)).slice(0, -versionsKept);
    await Promise.all(old.map((file) => rm(join(folder, file), { force: true })));
  }

  private fileOf(name: string): string {
    return join(this.folder, `${name}.md`);
  }

  private historyOf(name: string): string {
    return join(this.folder, ".history", name);
  }
}

function nameOfFile(file: string): string[] {
  const name = file.endsWith(".md") ? file.slice(0, -3) : "";
  return isNoteName(name) ? [name] : [];
}

function wrongName(name: string): string {
  return `\`${name}\` is no name for a note: lower-case letters, digits and \`. _ -\`, at most 64`;
}

function refused(reason: string): Noted {
  return { kind: "refused", reason };
}

/** Oldest first; what begins with a dot is a draft. */
async function versionsIn(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((file) => !file.startsWith(".")).sort();
}

/** Its name sorts last, also within one millisecond and when the clock went back. */
function versionAfter(newest: string | undefined, now: number): string {
  const last = Date.parse((newest ?? "").slice(0, 24).replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));
  const time = new Date(Number.isNaN(last) ? now : Math.max(now, last + 1)).toISOString();
  return `${time.replaceAll(":", "-")}-${randomBytes(3).toString("hex")}.md`;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
