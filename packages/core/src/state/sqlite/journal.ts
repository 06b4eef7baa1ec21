import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { endianness, uptime } from "node:os";

/*
 * SQLite reads its journal (`-wal`) up to the first page that is not sound and takes the rest for a
 * write that was never finished. A journal that is damaged in the middle, or gone, is therefore no
 * error to it: what was acknowledged is silently lost. But the index of the journal (`-shm`) says
 * how many pages were durable, and stays behind when a process dies. SQLite makes it anew when it
 * opens the database, so it must be read before.
 */

/** What the journal of a database nobody has opened lacks of all that was written, in words. */
export function lostFromJournal(file: string): string | undefined {
  const index = readIndex(`${file}-shm`);
  if (!index || index.folded >= index.frames) return undefined;
  const sound = soundFrames(bytesOf(`${file}-wal`), index);
  if (sound === undefined || sound >= index.frames) return undefined;
  return `its journal has lost ${index.frames - sound} of ${index.frames} pages`;
}

interface JournalIndex {
  /** How many were durable, and how many of these the database has by now. */
  frames: number;
  folded: number;
  /** What all frames of one round of the journal have in common. */
  salts: Buffer;
}

/** Two copies, one written after the other, and then how much is folded in. */
const copySize = 48;
const indexSize = 2 * copySize + 4;
const formatVersion = 3_007_000;

function readIndex(file: string): JournalIndex | undefined {
  if (!isOfThisBoot(file)) return undefined;
  const bytes = firstBytes(file, indexSize);
  const copy = bytes.subarray(0, copySize);
  const isWhole = bytes.length === indexSize && copy.equals(bytes.subarray(copySize, 2 * copySize));
  if (!isWhole || numberIn(bytes, 0, isLittle) !== formatVersion) return undefined;
  return {
    frames: numberIn(bytes, 16, isLittle),
    folded: numberIn(bytes, 2 * copySize, isLittle),
    salts: copy.subarray(32, 40),
  };
}

/** Nobody sees to it that the index reaches the disk: after a crash of the machine it may be old. */
function isOfThisBoot(file: string): boolean {
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return changed > Date.now() - uptime() * 1000;
}

/** Its last bit says in which order the bytes of a number are added up. */
const magic = 0x377f0682;
const headerSize = 32;
const frameHeaderSize = 24;

/** How many frames are sound, from the first on; undefined when the index is of another round. */
function soundFrames(journal: Buffer, { frames, salts }: JournalIndex): number | undefined {
  if (journal.length < headerSize) return 0;
  const kind = journal.readUInt32BE(0) - magic;
  if (kind !== 0 && kind !== 1) return 0;
  const isLittleSum = kind === 0;
  let sum = sumOf(journal.subarray(0, 24), [0, 0], isLittleSum);
  if (!isSum(journal, 24, sum)) return 0;
  if (!journal.subarray(16, 24).equals(salts)) return undefined;
  const size = frameHeaderSize + journal.readUInt32BE(8);
  for (let count = 0; count < frames; count += 1) {
    const frame = journal.subarray(headerSize + count * size, headerSize + (count + 1) * size);
    if (frame.length < size || !frame.subarray(8, 16).equals(salts)) return count;
    sum = sumOf(frame.subarray(0, 8), sum, isLittleSum);
    sum = sumOf(frame.subarray(frameHeaderSize), sum, isLittleSum);
    if (!isSum(frame, 16, sum)) return count;
  }
  return frames;
}

type Sum = [number, number];

/** As SQLite adds up: each frame's sum goes on from the one before. */
function sumOf(bytes: Buffer, [first, second]: Sum, little: boolean): Sum {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + numberIn(bytes, at, little) + b) >>> 0;
    b = (b + numberIn(bytes, at + 4, little) + a) >>> 0;
  }
  return [a, b];
}

function isSum(bytes: Buffer, at: number, [a, b]: Sum): boolean {
  return bytes.readUInt32BE(at) === a && bytes.readUInt32BE(at + 4) === b;
}

const isLittle = endianness() === "LE";

function numberIn(bytes: Buffer, at: number, little: boolean): number {
  return little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
}

function firstBytes(file: string, count: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(count);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, count, 0));
  } finally {
    closeSync(descriptor);
  }
}

function bytesOf(file: string): Buffer {
  return statSync(file, { throwIfNoEntry: false }) ? readFileSync(file) : Buffer.alloc(0);
}
