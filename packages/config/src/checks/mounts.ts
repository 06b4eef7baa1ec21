import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import type { Problem, SourcePosition } from "@herdctl/protocol";
import { withCause } from "../problem-cause.ts";
import type { ResolvedAgent } from "../resolve-agent.ts";
import { isNamedVolume } from "../schema/docker.ts";
import { type Tree, treeAt, valuePositionOf } from "../yaml/tree.ts";

/**
 * A container must not mount a folder that defeats its isolation: one with secrets of the machine
 * or the user, or, writable, one with the files that configure the container.
 */
export function checkMounts(
  agent: ResolvedAgent,
  tree: Tree,
  protectedPaths: ProtectedPaths,
): Problem[] {
  if (!agent.docker.enabled) return [];
  return listMountedFolders(agent, tree).flatMap(({ path, isWritable, place, field }) => {
    const folder = resolveLinks(path);
    const secret = findSecret(folder, protectedPaths);
    if (secret !== undefined) {
      const problem = {
        ...place,
        path: field,
        message: `the container of \`${agent.name}\` would have access to ${secret}`,
        hint: "Use a separate folder, such as a clone: `working_directory: { repo: … }`.",
      };
      return [withCause(problem, { kind: "mount_refused", agent: agent.name })];
    }
    const file = isWritable ? protectedPaths.operatorFolders.get(folder) : undefined;
    // defence: no-operator-file-mount
    if (file === undefined) return [];
    const problem = {
      ...place,
      path: field,
      message: `the container of \`${agent.name}\` could write ${file}`,
      hint: "Move the agent's folder away from the fleet's files, or mount it read-only.",
    };
    return [withCause(problem, { kind: "mount_refused", agent: agent.name })];
  });
}

/**
 * The secret or system path that a mount of the folder would expose; undefined if the folder may be
 * mounted. Links in `folder` must already be resolved.
 */
export function findSecret(
  folder: string,
  protectedPaths: Pick<ProtectedPaths, "secrets" | "stateDir">,
): string | undefined {
  const secret = protectedPaths.secrets.find(
    (path) => containsPath(folder, path) || containsPath(path, folder),
  );
  if (secret !== undefined) return /* defence: no-secret-folder */ secret;
  if (containsPath(protectedPaths.stateDir, folder)) return protectedPaths.stateDir;
  const isSystem =
    systemFolders.includes(folder) || systemTrees.some((tree) => containsPath(tree, folder));
  return isSystem ? folder : undefined;
}

/** Paths that no container may mount; collected once per fleet. */
export interface ProtectedPaths {
  secrets: string[];
  stateDir: string;
  /** Every folder that contains an operator file at any depth, with the first such file. */
  operatorFolders: ReadonlyMap<string, string>;
}

export function collectProtectedPaths(operatorFiles: string[], stateDir: string): ProtectedPaths {
  const operatorFolders = new Map<string, string>();
  for (const file of [...operatorFiles, stateDir]) {
    for (let path = resolveLinks(file); !operatorFolders.has(path); path = dirname(path)) {
      operatorFolders.set(path, file);
    }
  }
  return {
    secrets: listSecretPaths().map(resolveLinks),
    stateDir: resolveLinks(stateDir),
    operatorFolders,
  };
}

function listMountedFolders(agent: ResolvedAgent, tree: Tree) {
  const workspace = {
    path: agent.working_directory.path,
    isWritable: agent.docker.workspace_mode === "rw",
    place: treeAt(tree, ["working_directory"])?.place ?? tree.place,
    field: "working_directory",
  };
  const volumes = agent.docker.volumes.flatMap((volume, index) => {
    if (isNamedVolume(volume)) return [];
    return {
      path: volume.source,
      isWritable: volume.mode === "rw",
      place: valuePositionOf(tree, ["docker", "volumes", index]) as SourcePosition,
      field: `docker.volumes[${index}]`,
    };
  });
  return [workspace, ...volumes];
}

const systemFolders = ["/", "/etc", "/root", "/home", "/usr", "/var", "/var/lib"];
/** Folders that are never workspaces: devices, sockets of services, data of container engines. */
const systemTrees = [
  ...["/proc", "/sys", "/dev", "/boot", "/run", "/var/run"],
  ...["/var/lib/docker", "/var/lib/containerd"],
];

/** Files and folders of a user with keys, logins, cookies or sockets of container engines. */
const homeSecretPaths = [
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

const machineSecretPaths = [
  ...["/var/run/docker.sock", "/run/docker.sock", "/run/podman", "/run/containerd"],
  ...["/etc/shadow", "/etc/ssh", "/etc/sudoers"],
];

function listSecretPaths(): string[] {
  const home = homedir();
  const { CLAUDE_CONFIG_DIR: claude, DOCKER_HOST: engine } = process.env;
  return [
    ...homeSecretPaths.map((name) => join(home, name)),
    ...machineSecretPaths,
    ...(claude ? [claude] : []),
    // defence: engine-socket-by-docker-host
    ...(engine?.startsWith("unix://") ? [engine.slice("unix://".length)] : []),
  ];
}

/** True if the inner path is the outer folder or a path below it. */
export function containsPath(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

/** The path with all links resolved, as far as the path exists. */
export function resolveLinks(path: string): string {
  // defence: mount-links
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(resolveLinks(parent), basename(path));
}
