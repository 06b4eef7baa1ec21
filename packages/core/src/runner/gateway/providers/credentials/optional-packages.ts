import { hasErrorCode, UserError } from "@herdctl/protocol";

/** The packages that a provider needs besides those of herdctl, which would double its size. */
const packagesOf = {
  aws: ["@smithy/signature-v4", "@aws-crypto/sha256-js", "@aws-sdk/credential-providers"],
  vertex: ["google-auth-library"],
} as const;

/** Loads an optional package, or throws what to install. */
export async function importOptional<T>(
  name: string,
  purpose: keyof typeof packagesOf,
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!hasErrorCode(error, "ERR_MODULE_NOT_FOUND")) throw error;
    throw new UserError("credential_unavailable", `the package ${name} is not installed`, {
      hint: `Install it next to herdctl: \`npm install ${packagesOf[purpose].join(" ")}\`.`,
      cause: error,
    });
  }
}
