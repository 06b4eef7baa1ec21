import { basename } from "node:path";
import { z } from "zod";
import { checkedText, InvalidValue } from "./codec.ts";

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/**
 * Names become folder names, container names and parts of addresses, so no other characters are
 * allowed.
 */
export const name = checkedText((text) =>
  namePattern.test(text)
    ? undefined
    : new InvalidValue(
        `"${text}" is not a valid name`,
        "Use letters, digits, `-` and `_`, begin with a letter or digit, at most 64 characters.",
      ),
).meta({ pattern: namePattern.source });

/** A folder's name as the name of its fleet: every character that names may not have becomes `-`. */
export function toFleetName(folder: string): string {
  const name = basename(folder)
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[-_]+/, "");
  return name.slice(0, 64) || "fleet";
}

/** The name of an environment variable, never its value. */
export const variableName = checkedText((text) =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
    ? undefined
    : new InvalidValue(
        `"${text}" is not the name of an environment variable`,
        "Write the name of the variable, such as `GITHUB_TOKEN`. Its value stays in the environment.",
      ),
);

export const nonEmptyText = checkedText((text) =>
  text.trim() === ""
    ? new InvalidValue("the text is empty", "Write something, or remove the key.")
    : undefined,
);

export function url(...protocols: string[]) {
  return checkedText((text) => {
    const parsed = URL.canParse(text) ? new URL(text) : undefined;
    if (parsed && protocols.includes(parsed.protocol.slice(0, -1)) && parsed.hostname !== "")
      return;
    const urlForms = protocols.map((protocol) => `\`${protocol}://…\``).join(" or ");
    return new InvalidValue("this is not a usable URL", `Write a full URL: ${urlForms}.`);
  });
}

/** A relative path that stays inside the workspace. */
export const workspacePath = checkedText((text) => {
  const isInside = text !== "" && !text.startsWith("/") && !/(^|[/\\])\.\.([/\\]|$)/.test(text);
  if (isInside && !text.includes("\0")) return undefined;
  return new InvalidValue(
    `"${text}" is not a path inside the working directory`,
    "Write it relative to the working directory, without `..`.",
  );
});

export const hostPath = checkedText((text) =>
  text.trim() === "" || text.includes("\0")
    ? new InvalidValue(
        "the path is empty or invalid",
        "Write a path, relative to this file or absolute.",
      )
    : undefined,
);

/** A text; numbers and booleans need no quotes. */
export const scalarText = z.codec(
  z.union([z.string(), z.number(), z.boolean(), z.null()]).meta({ title: "text" }),
  z.string(),
  { decode: String, encode: (text) => text },
);

export const stringMap = z.record(z.string(), scalarText);
