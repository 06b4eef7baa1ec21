/** What one attempt at a hook came to. */
export type HookResult =
  | { ok: true; message: string; output: string }
  | {
      ok: false;
      message: string;
      output: string;
      /** False when another attempt would fail in the same way. */
      mayPass: boolean;
      /** What the other side asked for, in milliseconds. */
      retryAfter?: number;
    };

export function succeeded(message: string, output = ""): HookResult {
  return { ok: true, message, output };
}

export function failed(
  message: string,
  more: { output?: string; mayPass?: boolean; retryAfter?: number } = {},
): HookResult {
  return { ok: false, message, output: "", mayPass: true, ...more };
}
