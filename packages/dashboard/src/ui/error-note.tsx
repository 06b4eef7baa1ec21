import { Button } from "./button.tsx";
import { TextWithCode } from "./text-with-code.tsx";

interface ErrorNoteProps {
  error: unknown;
  onRetry?(): void;
}

export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  const message = error instanceof Error ? error.message : String(error);
  const hint = hasHint(error) ? error.hint : "";
  return (
    <div role="alert" className="rounded border border-bad bg-bad-soft px-3 py-2">
      <p className="font-medium whitespace-pre-wrap text-bad">
        <TextWithCode text={message} />
      </p>
      {hint && (
        <p className="mt-0.5 text-sm">
          <TextWithCode text={hint} />
        </p>
      )}
      {onRetry && (
        <Button size="small" className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

function hasHint(error: unknown): error is { hint: string } {
  return typeof error === "object" && error !== null && "hint" in error && error.hint !== "";
}
