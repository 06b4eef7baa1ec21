import { resolve } from "node:path";

/** Two spellings of one repository: by HTTPS or SSH, with a token or without, with `.git` or not. */
export function isSameRepo(one: string, other: string, folder: string): boolean {
  return canonical(one, folder) === canonical(other, folder);
}

export function maskCredentials(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s]*@/gi, "$1***@");
}

export interface RepoAccess {
  url: string;
  /** What git shall send beside the URL, by whom it is meant for. */
  header?: { scope: string; value: string };
}

/**
 * A token in the URL would be seen by every user in the process list and stay behind in the
 * clone for every tool to read, so it opens the door for cloning by a header and is kept nowhere.
 */
export function splitCredentials(repo: string): RepoAccess {
  const parsed = /^https?:\/\//i.test(repo) && URL.canParse(repo) ? new URL(repo) : undefined;
  if (parsed === undefined || (parsed.username === "" && parsed.password === "")) {
    return { url: repo };
  }
  const pair = [parsed.username, parsed.password].map(decode).join(":");
  parsed.username = "";
  parsed.password = "";
  const value = `Authorization: Basic ${Buffer.from(pair).toString("base64")}`;
  return { url: parsed.href, header: { scope: `${parsed.origin}/`, value } };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function canonical(repo: string, folder: string): string {
  const bare = repo.replace(/(\.git)?\/*$/, "");
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?(.*)$/i.exec(bare);
  if (url?.[1] !== undefined) return url[1];
  const ssh = /^(?:[^/@:]+@)?([^/:]+):\/*(.*)$/.exec(bare);
  if (ssh) return `${ssh[1]}/${ssh[2]}`;
  return resolve(folder, bare);
}
