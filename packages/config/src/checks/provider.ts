import type { Problem } from "@herdctl/protocol";
import { type ProviderType, providerKeys, providerTypes } from "../schema/provider.ts";
import { keyPositionOf, type Tree, treeAt } from "../yaml/tree.ts";

/** Checks that combine `provider` with other fields of an agent, or several of its own keys. */
export function checkProvider(agent: Tree): Problem[] {
  const type = providerTypeOf(agent);
  if (type === undefined) return [];
  return [...misplacedKeys(agent, type), ...conflicts(agent, type)];
}

function misplacedKeys(agent: Tree, type: ProviderType): Problem[] {
  const provider = treeAt(agent, ["provider"]);
  if (provider?.kind !== "map") return [];
  const usable = new Set<string>(providerKeys[type]);
  return [...provider.entries.keys()]
    .filter((key) => !usable.has(key))
    .flatMap((key) => {
      const types = providerTypes.filter((other) =>
        providerKeys[other].some((usableKey) => usableKey === key),
      );
      // The schema reports unknown keys.
      if (types.length === 0) return [];
      const hint = `Remove it. It belongs to ${types.map((name) => `\`${name}\``).join(", ")}.`;
      return [problemAt(agent, ["provider", key], `\`${type}\` does not use \`${key}\``, hint)];
    });
}

function conflicts(agent: Tree, type: ProviderType): Problem[] {
  if (type === "anthropic") return [];
  const problems: Problem[] = [];
  if (textAt(agent, "credential") === "subscription")
    problems.push(
      problemAt(
        agent,
        ["credential"],
        `\`provider: ${type}\` cannot use a subscription`,
        "Remove `credential`, or use `provider: anthropic`.",
      ),
    );
  const auth = textAt(agent, "docker", "auth");
  if (isEnabled(agent) && (auth === "env" || auth === "mount"))
    problems.push(
      problemAt(
        agent,
        ["docker", "auth"],
        `with \`provider: ${type}\`, no credential can be inside the container`,
        "Remove `auth`: the gateway adds the credential outside the container.",
      ),
    );
  if (treeAt(agent, ["provider", "token_env"]) && treeAt(agent, ["provider", "credential_command"]))
    problems.push(
      problemAt(
        agent,
        ["provider", "credential_command"],
        "`token_env` and `credential_command` exclude each other",
        "Remove one of them.",
      ),
    );
  return problems;
}

function providerTypeOf(agent: Tree): ProviderType | undefined {
  const name = textAt(agent, "provider") ?? textAt(agent, "provider", "type");
  return providerTypes.find((type) => type === name);
}

function isEnabled(agent: Tree): boolean {
  const enabled = treeAt(agent, ["docker", "enabled"]);
  return enabled?.kind === "scalar" && enabled.value === true;
}

function textAt(tree: Tree, ...path: string[]): string | undefined {
  const found = treeAt(tree, path);
  return found?.kind === "scalar" && typeof found.value === "string" ? found.value : undefined;
}

function problemAt(agent: Tree, path: string[], message: string, hint: string): Problem {
  return { ...keyPositionOf(agent, path), path: path.join("."), message, hint };
}
