import { z } from "zod";
import { checkedText, Wrong } from "./wrong.ts";

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Names become folder names, container names and address parts: nothing else may stand in them. */
export const name = checkedText((text) =>
  namePattern.test(text)
    ? undefined
    : new Wrong(
        `"${text}" is not a valid name`,
        "Use letters, digits, `-` and `_`, begin with a letter or digit, at most 64 characters.",
      ),
).meta({ pattern: namePattern.source });

/** The name of an environment variable, never its content. */
export const variableName = checkedText((text) =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
    ? undefined
    : new Wrong(
        `"${text}" is not the name of an environment variable`,
        "Name the variable, such as `GITHUB_TOKEN`; its content stays in the environment.",
      ),
);

export const someText = checkedText((text) =>
  text.trim() === ""
    ? new Wrong("the text is empty", "Write something, or remove the key.")
    : undefined,
);

export function url(...protocols: string[]) {
  return checkedText((text) => {
    const parsed = URL.canParse(text) ? new URL(text) : undefined;
    if (parsed && protocols.includes(parsed.protocol.slice(0, -1)) && parsed.hostname !== "")
      return;
    const forms = protocols.map((protocol) => `\`${protocol}://…\``).join(" or ");
    return new Wrong("this is not a usable URL", `Write it whole: ${forms}.`);
  });
}

/** A path inside the workspace: relative, and never out of it. */
export const insidePath = checkedText((text) => {
  const inside = text !== "" && !text.startsWith("/") && !/(^|[/\\])\.\.([/\\]|$)/.test(text);
  if (inside && !text.includes("\0")) return undefined;
  return new Wrong(
    `"${text}" is not a path inside the working directory`,
    "Write it relative to the working directory, without `..`.",
  );
});

export const hostPath = checkedText((text) =>
  text.trim() === "" || text.includes("\0")
    ? new Wrong(
        "the path is empty or not a path",
        "Write a path, relative to this file or absolute.",
      )
    : undefined,
);

export const stringMap = z.record(z.string(), z.coerce.string());
