import type { AgentConfig } from "./schema/agent.ts";

type ToAbsolutePath = (path: string, ...written: (string | number)[]) => string;

type ClaudePaths = Pick<AgentConfig, "plugins" | "additional_directories" | "project_config_root">;

/** Options of Claude Code that name files and folders, with absolute paths. */
export function resolveClaudePaths(
  config: ClaudePaths,
  toAbsolutePath: ToAbsolutePath,
): ClaudePaths {
  const { project_config_root: root } = config;
  return {
    plugins: config.plugins.map((path, index) => toAbsolutePath(path, "plugins", index)),
    additional_directories: config.additional_directories.map((path, index) =>
      toAbsolutePath(path, "additional_directories", index),
    ),
    project_config_root: root && toAbsolutePath(root, "project_config_root"),
  };
}
