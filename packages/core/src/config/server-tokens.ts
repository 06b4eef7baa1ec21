import type { Problem } from "../document/problem.ts";
import { placeOf, type Tree, valuePlaceOf } from "../document/tree.ts";
import type { Environment } from "./environment.ts";
import type { FleetFile } from "./schema/fleet.ts";

const shortestToken = 16;

/** Who listens to more than this machine, and whether the tokens that are named can keep a door. */
export function checkServerTokens(
  { server }: Pick<FleetFile, "server">,
  tree: Tree,
  environment: Environment,
): Problem[] {
  const named = (["token_env", "read_only_token_env"] as const).flatMap((key) => {
    const variable = server[key];
    const wrong = variable && wrongToken(variable, environment[variable]);
    const path = ["server", key];
    return wrong ? [{ ...valuePlaceOf(tree, path), path: path.join("."), ...wrong }] : [];
  });
  if (isLoopback(server.host) || server.token_env !== undefined) return named;
  return [
    ...named,
    {
      ...placeOf(tree, ["server", "host"]),
      path: "server.host",
      message: `${server.host} can be reached by other machines, and no token of yours guards it`,
      hint: "Name a variable that holds one with `server.token_env`, or listen on 127.0.0.1.",
    },
  ];
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Why this token can keep no door; undefined when it can. */
export function wrongToken(
  variable: string,
  token: string | undefined,
): { message: string; hint: string } | undefined {
  if (token === undefined || token.trim() === "") {
    return {
      message: `the variable ${variable} is not set`,
      hint: "Set it in the environment of the fleet or in `.env`: a blank token opens nothing.",
    };
  }
  if (/\s/.test(token.trim())) {
    return {
      message: `the token in ${variable} has blanks in it`,
      hint: "Use letters, digits, `-` and `_`, such as `openssl rand -hex 32` gives.",
    };
  }
  if (token.trim().length >= shortestToken) return undefined;
  return {
    message: `the token in ${variable} is too short`,
    hint: `Use at least ${shortestToken} characters, such as \`openssl rand -hex 32\` gives.`,
  };
}
