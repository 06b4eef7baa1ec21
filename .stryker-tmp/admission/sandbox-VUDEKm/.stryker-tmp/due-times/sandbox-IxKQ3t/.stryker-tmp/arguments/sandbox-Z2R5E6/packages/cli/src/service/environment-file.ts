import { UserError } from "@herdctl/protocol";

type Variables = Readonly<Record<string, string>>;

/** In the syntax of systemd, in which these four characters are special inside double quotes. */
export function renderSystemdEnvironment(variables: Variables): string {
  return environmentLines(variables, (value) => `"${value.replace(/["\\`$]/g, "\\$&")}"`);
}

/** In the syntax of Node's `--env-file`, which has three kinds of quotes and no escapes. */
export function renderNodeEnvironment(variables: Variables): string {
  return environmentLines(variables, (value, name) => {
    const quote = ["'", '"', "`"].find((one) => !value.includes(one));
    // Inside double quotes, Node would read `\n` as a line break.
    if (quote !== undefined && !(quote === '"' && value.includes("\\n"))) {
      return `${quote}${value}${quote}`;
    }
    throw new UserError("usage", `the value of ${name} cannot be saved for the service`, {
      hint: "Move it to `.env` in the folder of the fleet file, or unset it in this shell.",
    });
  });
}

const entryPattern = /^([A-Za-z_]\w*)=("(?:[^"\\]|\\[\s\S])*"|'[^']*'|`[^`]*`)$/gm;

/** Entries of an earlier install that this shell does not set, so that the service keeps its key. */
export function retainedEntries(previousText: string, variables: Variables): string {
  return [...previousText.matchAll(entryPattern)]
    .filter(([, name = ""]) => variables[name] === undefined)
    .map(([line]) => `${line}\n`)
    .join("");
}

export function listEntryNames(text: string): string[] {
  return [...text.matchAll(entryPattern)].map(([, name = ""]) => name).sort();
}

function environmentLines(
  variables: Variables,
  quoteValue: (value: string, name: string) => string,
): string {
  const names = Object.keys(variables).sort();
  return names.map((name) => `${name}=${quoteValue(variables[name] ?? "", name)}\n`).join("");
}
