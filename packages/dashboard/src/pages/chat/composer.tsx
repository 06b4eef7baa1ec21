import { type KeyboardEvent, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/form-controls.tsx";

interface ComposerProps {
  to: string;
  /** Why sending is disabled. */
  disabledReason: string | undefined;
  isSending: boolean;
  /** The idempotency key stays the same while the same text is retried. */
  onSend(text: string, key: string): Promise<void>;
  /** Set while a job runs. New text stays in the field until it ends. */
  onStop: (() => void) | undefined;
}

export function Composer({ to, disabledReason, isSending, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState("");
  const key = useRef(createKey());
  const isReady = text.trim() !== "" && !isSending && !onStop && disabledReason === undefined;
  const send = async () => {
    if (!isReady) return;
    try {
      await onSend(text.trim(), key.current);
      key.current = createKey();
      setText("");
    } catch {
      // The error is shown above the field, which keeps the text.
    }
  };
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <div className="mx-auto flex w-full max-w-3xl items-end gap-2 pt-2">
      <TextArea
        autoFocus
        rows={2}
        aria-label={`Message ${to}`}
        placeholder={disabledReason ?? `Message ${to}…`}
        disabled={disabledReason !== undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          key.current = createKey();
        }}
        onKeyDown={sendByKey}
        className="max-h-60 resize-none [field-sizing:content]"
      />
      {onStop ? (
        <Button variant="bad" disabledReason={disabledReason} onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button
          variant="main"
          disabledReason={disabledReason}
          disabled={!isReady}
          onClick={() => void send()}
        >
          Send
        </Button>
      )}
    </div>
  );
}

/** Browsers offer `crypto.randomUUID` only on HTTPS pages and on localhost. */
function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page/${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
