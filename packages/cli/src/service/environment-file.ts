import { UserError } from "@herdctl/core/light";

type Variables = Readonly<Record<string, string>>;

/** As systemd reads it: these four have a meaning between double quotes. */
export function systemdEnvironment(variables: Variables): string {
  return lines(variables, (value) => `"${value.replace(/["\\`$]/g, "\\$&")}"`);
}

/** As Node reads it with `--env-file`: it knows three kinds of quotes and no escapes. */
export function nodeEnvironment(variables: Variables): string {
  return lines(variables, (value, name) => {
    const quote = ["'", '"', "`"].find((one) => !value.includes(one));
    // Between double quotes `\n` would become a line's end.
    if (quote !== undefined && !(quote === '"' && value.includes("\\n"))) {
      return `${quote}${value}${quote}`;
    }
    throw new UserError("usage", `the value of ${name} cannot be written down for the service`, {
      hint: "Put it into `.env` beside the fleet file, or unset it here.",
    });
  });
}

const entry = /^([A-Za-z_]\w*)=("(?:[^"\\]|\\[\s\S])*"|'[^']*'|`[^`]*`)$/gm;

/** What an earlier install wrote, and the shell of this one has not: a service must not lose its key by it. */
export function keptEntries(before: string, variables: Variables): string {
  return [...before.matchAll(entry)]
    .filter(([, name = ""]) => variables[name] === undefined)
    .map(([line]) => `${line}\n`)
    .join("");
}

export function entryNames(text: string): string[] {
  return [...text.matchAll(entry)].map(([, name = ""]) => name).sort();
}

function lines(variables: Variables, quoted: (value: string, name: string) => string): string {
  const names = Object.keys(variables).sort();
  return names.map((name) => `${name}=${quoted(variables[name] ?? "", name)}\n`).join("");
}
