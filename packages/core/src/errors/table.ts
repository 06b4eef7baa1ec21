/** Exit codes of every herdctl command. */
export const exitCodes = {
  success: 0,
  jobFailed: 1,
  badInput: 2,
  unreachable: 3,
  refused: 4,
  bug: 70,
} as const;

/** Every way a person can get it wrong: what to do about it, and how each door answers. */
export const errorTable = {
  config_invalid: {
    exitCode: exitCodes.badInput,
    hint: "Correct the places above, then run `herdctl config check` again.",
  },
  config_not_found: {
    exitCode: exitCodes.badInput,
    hint: "Run `herdctl init` here, or name the file with `--config`.",
  },
  document_invalid: {
    exitCode: exitCodes.badInput,
    hint: "Correct the places above and try again.",
  },
  file_unreadable: {
    exitCode: exitCodes.badInput,
    hint: "Check that the file exists and that you may read it.",
  },
  file_exists: {
    exitCode: exitCodes.refused,
    hint: "Move the file away, or choose another folder.",
  },
  usage: {
    exitCode: exitCodes.badInput,
    hint: "Run the command with `--help` to see what it takes.",
  },
  address_in_use: {
    exitCode: exitCodes.unreachable,
    hint: "Stop what listens there, or choose another port or socket.",
  },
} as const satisfies Record<string, { exitCode: number; hint: string }>;

export type ErrorCode = keyof typeof errorTable;
