import type { Problem } from "@herdctl/protocol";
import type { Environment } from "../environment.ts";
import type { FleetFile } from "../schema/fleet.ts";
import { keyPositionOf, type Tree, valuePositionOf } from "../yaml/tree.ts";

const minTokenCharacters = 16;

/** A server that other machines can reach needs a token, and every token must be strong enough. */
export function checkServerTokens(
  { server }: Pick<FleetFile, "server">,
  tree: Tree,
  environment: Environment,
): Problem[] {
  const tokenProblems = (["token_env", "read_only_token_env"] as const).flatMap((key) => {
    const variable = server[key];
    const wrong = variable && findTokenProblem(variable, environment[variable]);
    const path = ["server", key];
    return wrong ? [{ ...valuePositionOf(tree, path), path: path.join("."), ...wrong }] : [];
  });
  if (isLoopback(server.host) || server.token_env !== undefined) return tokenProblems;
  return [
    ...tokenProblems,
    {
      ...keyPositionOf(tree, ["server", "host"]),
      path: "server.host",
      message: `other machines can reach ${server.host}, but no token protects it`,
      hint: "Set `server.token_env` to the name of a variable that holds a token, or listen on 127.0.0.1.",
    },
  ];
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Why the token cannot be used; undefined if it can. */
export function findTokenProblem(
  variable: string,
  token: string | undefined,
): { message: string; hint: string } | undefined {
  if (token === undefined || token.trim() === "") {
    return {
      message: `the variable ${variable} is not set`,
      hint: "Set it in the environment of the fleet or in `.env`. An empty token grants no access.",
    };
  }
  if (/\s/.test(token.trim())) {
    return {
      message: `the token in ${variable} contains whitespace`,
      hint: "Use letters, digits, `-` and `_`, such as the output of `openssl rand -hex 32`.",
    };
  }
  if (token.trim().length >= minTokenCharacters) return undefined;
  return {
    message: `the token in ${variable} is too short`,
    hint: `Use at least ${minTokenCharacters} characters, such as the output of \`openssl rand -hex 32\`.`,
  };
}
