import { type KeyboardEvent, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/field.tsx";

interface ComposerProps {
  to: string;
  /** Why nothing may be said. */
  obstacle: string | undefined;
  isSending: boolean;
  /** The same key for the same words, however often they have to be sent. */
  onSay(text: string, key: string): Promise<void>;
  /** While it is at work; what is said then waits in the field. */
  onStop: (() => void) | undefined;
}

export function Composer({ to, obstacle, isSending, onSay, onStop }: ComposerProps) {
  const [text, setText] = useState("");
  const key = useRef(newKey());
  const isReady = text.trim() !== "" && !isSending && !onStop && obstacle === undefined;
  const send = async () => {
    if (!isReady) return;
    try {
      await onSay(text.trim(), key.current);
      key.current = newKey();
      setText("");
    } catch {
      // Told above the field; the words stay where they are.
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
        aria-label={`Say something to ${to}`}
        placeholder={obstacle ?? `Say something to ${to} …`}
        disabled={obstacle !== undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          key.current = newKey();
        }}
        onKeyDown={sendByKey}
        className="max-h-60 resize-none [field-sizing:content]"
      />
      {onStop ? (
        <Button look="bad" obstacle={obstacle} onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button look="main" obstacle={obstacle} disabled={!isReady} onClick={() => void send()}>
          Send
        </Button>
      )}
    </div>
  );
}

/** Not `randomUUID`: a browser has that only where the way to us is safe. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page/${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
