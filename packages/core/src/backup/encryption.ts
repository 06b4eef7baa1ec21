import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import {
  closeSync,
  createReadStream,
  createWriteStream,
  openSync,
  readSync,
  statSync,
} from "node:fs";
import { pipeline } from "node:stream/promises";
import { UserError } from "@herdctl/protocol";

/** A header, a salt and a nonce, then the content (AES-256-GCM), then the authentication tag. */
const header = Buffer.from("herdctl-backup-1");
const [saltBytes, nonceBytes, tagBytes] = [16, 12, 16];
const prefixBytes = header.length + saltBytes + nonceBytes;
const algorithm = "aes-256-gcm";

export async function encryptFile(from: string, to: string, password: string): Promise<void> {
  const [salt, nonce] = [randomBytes(saltBytes), randomBytes(nonceBytes)];
  const cipher = createCipheriv(algorithm, deriveKey(password, salt), nonce);
  const output = createWriteStream(to, { flags: "wx", mode: 0o600 });
  output.write(Buffer.concat([header, salt, nonce]));
  await pipeline(createReadStream(from), cipher, output, { end: false });
  await new Promise<void>((resolve) => output.end(cipher.getAuthTag(), resolve));
}

export function isEncrypted(file: string): boolean {
  return readBytes(file, 0, header.length).equals(header);
}

/** Throws before anything is used if the password is wrong or the file was changed. */
export async function decryptFile(from: string, to: string, password: string): Promise<void> {
  const { size } = statSync(from);
  const prefix = readBytes(from, 0, prefixBytes);
  const salt = prefix.subarray(header.length, header.length + saltBytes);
  const decipher = createDecipheriv(
    algorithm,
    deriveKey(password, salt),
    prefix.subarray(header.length + saltBytes),
  );
  decipher.setAuthTag(readBytes(from, size - tagBytes, tagBytes));
  const content = createReadStream(from, { start: prefixBytes, end: size - tagBytes - 1 });
  try {
    await pipeline(content, decipher, createWriteStream(to, { mode: 0o600 }));
  } catch (cause) {
    throw new UserError("usage", "the password is wrong, or the backup is damaged", { cause });
  }
}

function deriveKey(password: string, salt: Buffer): Buffer {
  return scryptSync(password, salt, 32);
}

function readBytes(file: string, position: number, length: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(length);
    const count = readSync(descriptor, bytes, 0, length, position);
    return bytes.subarray(0, count);
  } finally {
    closeSync(descriptor);
  }
}
