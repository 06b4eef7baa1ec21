import { userInfo } from "node:os";

/** The name that stands beside an answer. */
export function whoAnswers(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}
