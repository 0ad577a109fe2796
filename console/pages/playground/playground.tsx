// The playground: a conversation with a model, what its next request may cost before it is sent, and what it did cost after.

import { Group, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { firstModel, kindOf, type Model } from "../../api/model-kind.ts";
import { newId } from "../../api/writes.ts";
import { Empty } from "../../components/empty.tsx";
import { WithMyModels } from "../../components/my-models.tsx";
import { Page } from "../../components/page.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { PLAYGROUND } from "../../i18n/playground.ts";
import { SHELL } from "../../i18n/shell.ts";
import { Composer } from "./composer.tsx";
import { type ChatSettings, chatBodyOf, isAnswerMax, repeatOf } from "./conversation.ts";
import { BalancePanel, QuotePanel, useBalance } from "./quote-panel.tsx";
import { Talk } from "./talk.tsx";
import { useChat } from "./use-chat.ts";
import { useQuote } from "./use-quote.ts";

const DEFAULTS = { model: "" };
const FIRST_SETTINGS: ChatSettings = { instructions: "", answerMax: "1000" };

/** The page of the playground. */
export default function Playground() {
  const { page } = useWords(SHELL);
  const words = useWords(PLAYGROUND);
  const status = useStatus();
  return (
    <Page title={page.playground} about={words.about}>
      <WithMyModels status={status}>
        {(models) => {
          const chats = models.filter(({ id, price }) => kindOf(id, price) === "chat");
          return chats.length === 0 ? <Empty text={words.noChat} /> : <Conversation models={chats} />;
        }}
      </WithMyModels>
    </Page>
  );
}

function Conversation({ models }: { readonly models: readonly Model[] }) {
  const [{ model: wanted }, change] = useUrlState(DEFAULTS);
  const [settings, setSettings] = useState(FIRST_SETTINGS);
  const [typed, setTyped] = useState("");
  const chat = useChat();
  const balance = useBalance();
  const model = models.find(({ id }) => id === wanted) ?? firstModel(models)!;
  const isComplete = typed.trim() !== "" && isAnswerMax(settings.answerMax);
  const body = isComplete ? chatBodyOf(model, settings, chat.exchanges, typed) : null;
  const { quote, failure, isCurrent } = useQuote(body);
  const latest = chat.exchanges.at(-1) ?? null;
  const before = balance?.total ?? null;
  const send = () => {
    const known = isCurrent && quote !== undefined ? quote : null;
    chat.send({ id: newId(), asked: typed.trim(), model: model.id, body: body!, quote: known, before });
    setTyped("");
  };
  return (
    <Stack gap="sm">
      <Settings
        models={models}
        model={model}
        onModel={(id) => change({ model: id })}
        settings={settings}
        onSettings={setSettings}
      />
      <div className="form-and-side">
        <Stack gap="sm">
          <Talk
            exchanges={chat.exchanges}
            onRepeat={(exchange) => {
              const { sent, instead } = repeatOf(exchange, newId(), before);
              if (!chat.isRunning) chat.send(sent, instead);
            }}
          />
          <Composer
            typed={typed}
            onTyped={setTyped}
            body={body}
            isRunning={chat.isRunning}
            onSend={send}
            onStop={chat.stop}
            onClear={chat.exchanges.length === 0 ? null : chat.clear}
          />
        </Stack>
        <Stack gap="sm" className="playground-side">
          {body === null ? (
            <QuotePanel quote={latest?.quote ?? null} failure={null} of={latest} isCurrent />
          ) : (
            <QuotePanel quote={quote ?? null} failure={failure} of={null} isCurrent={isCurrent} />
          )}
          {balance !== undefined && <BalancePanel balance={balance} before={latest?.before ?? null} />}
        </Stack>
      </div>
    </Stack>
  );
}

function Settings(props: {
  readonly models: readonly Model[];
  readonly model: Model;
  readonly onModel: (id: string) => void;
  readonly settings: ChatSettings;
  readonly onSettings: (settings: ChatSettings) => void;
}) {
  const { models, model, onModel, settings, onSettings } = props;
  const words = useWords(PLAYGROUND);
  return (
    <Group gap="xs" align="flex-start">
      <Select
        label={words.model}
        data={models.map(({ id }) => id)}
        value={model.id}
        onChange={(id) => onModel(id ?? "")}
        allowDeselect={false}
        searchable
        limit={60}
        w={{ base: 205, sm: 240 }}
      />
      <TextInput
        label={words.answerMax}
        value={settings.answerMax}
        onChange={(event) => onSettings({ ...settings, answerMax: event.currentTarget.value })}
        inputMode="numeric"
        autoComplete="off"
        error={!isAnswerMax(settings.answerMax) && words.answerMaxWrong}
        w={150}
      />
      <TextInput
        label={words.instructions}
        placeholder={words.instructionsHint}
        value={settings.instructions}
        onChange={(event) => onSettings({ ...settings, instructions: event.currentTarget.value })}
        autoComplete="off"
        flex={1}
        miw={220}
      />
    </Group>
  );
}
