import type { Terminal } from "../terminal.ts";
import type { Surroundings } from "./surroundings.ts";

const notSignedIn = "no Claude login and no API key";

/** One line for everything that was found. */
export function foundLines(
  { signIn, git, project, docker }: Surroundings,
  { colors }: Pick<Terminal, "colors">,
): string[] {
  const rows: [label: string, text: string | undefined][] = [
    ["sign-in", describeSignIn(signIn)],
    ["git", git && `repository, branch ${git.branch}`],
    ["project", [project?.language, project?.packageManager].filter(Boolean).join(", ")],
    ["tests", project?.testCommand],
    ["docker", docker && `version ${docker}`],
  ];
  return rows
    .filter(([, text]) => text !== undefined && text !== "")
    .map(([label, text]) => `${colors.dim(label.padEnd(8))} ${text}`);
}

function describeSignIn({ subscription, keyVariable }: Surroundings["signIn"]): string {
  const login = subscription ? ["your Claude login (subscription)"] : [];
  const key = keyVariable === undefined ? [] : [`the API key in ${keyVariable}`];
  return [...login, ...key].join(", and ") || notSignedIn;
}
