import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import type { Place, Problem } from "../document/problem.ts";
import { at, type Tree, valuePlaceOf } from "../document/tree.ts";
import type { ResolvedAgent } from "./resolve.ts";

/**
 * No container may be given a folder that would undo it: one that holds the machine's or the
 * user's secrets, or, writable, the files that say what the container may do.
 */
export function checkBoundary(agent: ResolvedAgent, tree: Tree, guarded: Guarded): Problem[] {
  if (!agent.docker.enabled) return [];
  return mountedFolders(agent, tree).flatMap(({ path, writable, place, field }) => {
    const folder = followLinks(path);
    const secret = secretIn(folder, guarded);
    if (secret !== undefined) {
      return [
        {
          ...place,
          path: field,
          message: `the container of \`${agent.name}\` would be given ${secret}`,
          hint: "Give it a folder of its own, such as a clone: `working_directory: { repo: … }`.",
        },
      ];
    }
    const file = writable ? guarded.operatorFolders.get(folder) : undefined;
    if (file === undefined) return [];
    return [
      {
        ...place,
        path: field,
        message: `the container of \`${agent.name}\` could write ${file}`,
        hint: "Move the agent's folder apart from the fleet's files, or mount it read-only.",
      },
    ];
  });
}

/** What the folder, with all links followed, would give away; undefined when it may be mounted. */
export function secretIn(
  folder: string,
  guarded: Pick<Guarded, "secrets" | "stateDir">,
): string | undefined {
  const secret = guarded.secrets.find((one) => holds(folder, one) || holds(one, folder));
  if (secret !== undefined) return secret;
  if (holds(guarded.stateDir, folder)) return guarded.stateDir;
  const isSystem =
    systemFolders.includes(folder) || systemTrees.some((tree) => holds(tree, folder));
  return isSystem ? folder : undefined;
}

/** What no container is given; looked up once for a whole fleet. */
export interface Guarded {
  secrets: string[];
  stateDir: string;
  /** Every folder that holds one of the operator's files, however deep, with the first it holds. */
  operatorFolders: ReadonlyMap<string, string>;
}

export function guard(operatorFiles: string[], stateDir: string): Guarded {
  const operatorFolders = new Map<string, string>();
  for (const file of [...operatorFiles, stateDir]) {
    for (let path = followLinks(file); !operatorFolders.has(path); path = dirname(path)) {
      operatorFolders.set(path, file);
    }
  }
  return {
    secrets: secretFolders().map(followLinks),
    stateDir: followLinks(stateDir),
    operatorFolders,
  };
}

function mountedFolders(agent: ResolvedAgent, tree: Tree) {
  const workspace = {
    path: agent.working_directory.path,
    writable: agent.docker.workspace_mode === "rw",
    place: at(tree, ["working_directory"])?.place ?? tree.place,
    field: "working_directory",
  };
  const volumes = agent.docker.volumes.map((volume, index) => ({
    path: volume.source,
    writable: volume.mode === "rw",
    place: valuePlaceOf(tree, ["docker", "volumes", index]) as Place,
    field: `docker.volumes[${index}]`,
  }));
  return [workspace, ...volumes];
}

const systemFolders = ["/", "/etc", "/root", "/home", "/usr", "/var", "/var/lib"];
/** Nothing of these is a folder to work in: devices, sockets of services, the engine's own store. */
const systemTrees = [
  ...["/proc", "/sys", "/dev", "/boot", "/run", "/var/run"],
  ...["/var/lib/docker", "/var/lib/containerd"],
];

/** Files and folders of a user with keys, logins, cookies or sockets of container engines. */
const secretsOfHome = [
  ...[".claude", ".claude.json"],
  ...[".ssh", ".gnupg", ".config", ".netrc", ".authinfo", ".git-credentials", ".password-store"],
  ...[".aws", ".azure", ".oci", ".kube", ".terraform.d", ".vault-token", ".databrickscfg"],
  ...[".docker", ".colima", ".orbstack", ".rd", ".lima", ".local/share/containers"],
  ...[".npmrc", ".yarnrc.yml", ".pypirc", ".gem/credentials", ".cargo/credentials.toml"],
  ...[".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json", ".nuget/NuGet"],
  ...[".pgpass", ".my.cnf", ".mongorc.js", ".bash_history", ".zsh_history"],
  ...[".mozilla", ".thunderbird", ".local/share/keyrings", ".pki", "Library/Keychains"],
  ...["Library/Application Support", "Library/Cookies"],
];

const secretsOfMachine = [
  ...["/var/run/docker.sock", "/run/docker.sock", "/run/podman", "/run/containerd"],
  ...["/etc/shadow", "/etc/ssh", "/etc/sudoers"],
];

function secretFolders(): string[] {
  const home = homedir();
  const { CLAUDE_CONFIG_DIR: claude, DOCKER_HOST: engine } = process.env;
  return [
    ...secretsOfHome.map((name) => join(home, name)),
    ...secretsOfMachine,
    ...(claude ? [claude] : []),
    ...(engine?.startsWith("unix://") ? [engine.slice("unix://".length)] : []),
  ];
}

/** True when the inner path is the outer folder or lies below it. */
export function holds(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

/** The real path of what exists of it: a link anywhere on the way counts. */
export function followLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(followLinks(parent), basename(path));
}
