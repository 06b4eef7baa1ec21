import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Note } from "@herdctl/protocol";
import { hasErrorCode } from "@herdctl/protocol";
import { syncFolder, writeFileAtomic } from "../../lib/atomic-file.ts";

export type WriteNoteResult = { kind: "noted" } | { kind: "refused"; reason: string };

const maxNoteBytes = 16 * 1024;
const maxNotes = 200;
/** Versions kept per note, including the current one. */
const maxVersions = 10;
const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Lower case only, because two notes must not share a file on a case-insensitive disk. */
export function isNoteName(name: string): boolean {
  return /* defence: note-name */ namePattern.test(name) && !name.endsWith(".md");
}

export function memoryDir(stateDir: string, agent: string): string {
  return join(stateDir, "memory", agent);
}

/**
 * The notes of one agent, as files that people can read and write: `<name>.md`. Concurrent runs see
 * complete notes only. Recent versions are kept in `.history`, so that the slower of two writers
 * destroys nothing.
 */
export class AgentMemory {
  constructor(readonly folder: string) {}

  async list(): Promise<Note[]> {
    const names = (await listNames(this.folder)).flatMap(noteNameOf).sort();
    return await Promise.all(
      names.map(async (name) => {
        const { size, mtime } = await stat(this.notePath(name));
        return { name, bytes: size, changed_at: mtime.toISOString() };
      }),
    );
  }

  async read(name: string): Promise<string | undefined> {
    return isNoteName(name) ? await readIfExists(this.notePath(name)) : undefined;
  }

  async write(name: string, text: string): Promise<WriteNoteResult> {
    if (!isNoteName(name)) return refused(invalidNameMessage(name));
    if (Buffer.byteLength(text) > maxNoteBytes)
      return refused(`a note can have at most ${maxNoteBytes / 1024} KB; split or shorten it`);
    const others = (await this.list()).filter((note) => note.name !== name);
    if (others.length >= maxNotes)
      return refused(`the limit of ${maxNotes} notes is reached; delete some first`);
    await this.saveManualEdit(name);
    await this.saveVersion(name, text);
    await writeFileAtomic(this.notePath(name), text);
    return { kind: "noted" };
  }

  /** Deletes a note; its versions stay in the history. False if there is none. */
  async delete(name: string): Promise<boolean> {
    if ((await this.read(name)) === undefined) return false;
    await this.saveManualEdit(name);
    await rm(this.notePath(name), { force: true });
    await syncFolder(this.folder);
    return true;
  }

  /** An edit by a person exists only in the file. */
  private async saveManualEdit(name: string): Promise<void> {
    const now = await this.read(name);
    const folder = this.historyDir(name);
    const newest = (await listVersions(folder)).at(-1);
    const known = newest === undefined ? undefined : await readIfExists(join(folder, newest));
    if (now !== undefined && now !== known) await this.saveVersion(name, now);
  }

  private async saveVersion(name: string, text: string): Promise<void> {
    const folder = this.historyDir(name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const newest = (await listVersions(folder)).at(-1);
    await writeFileAtomic(join(folder, nextVersionName(newest, Date.now())), text);
    const old = (await listVersions(folder)).slice(0, -maxVersions);
    await Promise.all(old.map((file) => rm(join(folder, file), { force: true })));
  }

  private notePath(name: string): string {
    return join(this.folder, `${name}.md`);
  }

  private historyDir(name: string): string {
    return join(this.folder, ".history", name);
  }
}

function noteNameOf(file: string): string[] {
  const name = file.endsWith(".md") ? file.slice(0, -3) : "";
  return isNoteName(name) ? [name] : [];
}

function invalidNameMessage(name: string): string {
  return `\`${name}\` is not a valid note name; use lower-case letters, digits and \`. _ -\`, at most 64 characters`;
}

function refused(reason: string): WriteNoteResult {
  return { kind: "refused", reason };
}

/** Oldest first; names that start with a dot are drafts. */
async function listVersions(folder: string): Promise<string[]> {
  return (await listNames(folder)).filter((file) => !file.startsWith(".")).sort();
}

/** A name that sorts last, even within one millisecond or after the clock went back. */
function nextVersionName(newest: string | undefined, now: number): string {
  const last = Date.parse((newest ?? "").slice(0, 24).replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));
  const time = new Date(Number.isNaN(last) ? now : Math.max(now, last + 1)).toISOString();
  return `${time.replaceAll(":", "-")}-${randomBytes(3).toString("hex")}.md`;
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return [];
    throw error;
  }
}
