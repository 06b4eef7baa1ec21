import { z } from "zod";

/** The facts about a backup that a restore needs. */
export const manifestSchema = z.object({
  version: z.literal(1),
  created_at: z.iso.datetime(),
  fleet: z.string(),
  /** The folder of the fleet file, which records refer to. */
  dir: z.string(),
  /** Claude Code's folder with the transcripts. */
  config_dir: z.string(),
  jobs: z.number(),
  sessions: z.number(),
});
export type BackupManifest = z.infer<typeof manifestSchema>;

export const databaseName = "herd.db";

/** Folders of the state that a backup contains. Sockets, locks, logs and tokens stay behind. */
export const stateFolders = ["jobs", "memory", "docker-sessions", "docker-git"] as const;

export const archiveLayout = {
  manifest: "manifest.json",
  transcripts: "transcripts",
  configuration: "configuration",
} as const;
