/** The shortest model reply that a wire format allows. */
export type Answer = { text: string } | { call: { name: string; args: object } };

interface Wire {
  /** Whether the conversation has come to a tool's result. */
  hasResult(body: string): boolean;
  /** A whole answer, as server-sent events. */
  stream(answer: Answer): string;
}

const piecesOf = (text: string): string[] => text.match(/.{1,24}/gs) ?? [];
const named = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const unnamed = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
let calls = 0;

const anthropic: Wire = {
  hasResult: (body) => body.includes('"tool_result"'),
  stream(answer) {
    const usage = { input_tokens: 200, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "bench", content: [], usage };
    const [block, deltas] =
      "text" in answer
        ? [{ type: "text", text: "" }, piecesOf(answer.text).map((text) => ({ type: "text_delta", text }))]
        : [
            { type: "tool_use", id: `toolu_${calls++}`, name: answer.call.name, input: {} },
            piecesOf(JSON.stringify(answer.call.args)).map((partial_json) => ({
              type: "input_json_delta",
              partial_json,
            })),
          ];
    const stop = { stop_reason: "text" in answer ? "end_turn" : "tool_use", stop_sequence: null };
    return [
      named("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } }),
      named("content_block_start", { index: 0, content_block: block }),
      ...deltas.map((delta) => named("content_block_delta", { index: 0, delta })),
      named("content_block_stop", { index: 0 }),
      named("message_delta", { delta: stop, usage: { output_tokens: 20 } }),
      named("message_stop", {}),
    ].join("");
  },
};

const chat: Wire = {
  hasResult: (body) => body.includes('"role":"tool"'),
  stream(answer) {
    const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "bench" };
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      unnamed({ ...head, choices: [{ index: 0, delta, finish_reason }] });
    const chunks =
      "text" in answer
        ? piecesOf(answer.text).map((content) => chunk({ content }))
        : [
            chunk({
              tool_calls: [
                {
                  index: 0,
                  id: `call_${calls++}`,
                  type: "function",
                  function: { name: answer.call.name, arguments: "" },
                },
              ],
            }),
            ...piecesOf(JSON.stringify(answer.call.args)).map((part) =>
              chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
            ),
          ];
    const usage = { prompt_tokens: 200, completion_tokens: 20, total_tokens: 220 };
    return [
      chunk({ role: "assistant", content: "" }),
      ...chunks,
      chunk({}, "text" in answer ? "stop" : "tool_calls"),
      unnamed({ ...head, choices: [], usage }),
      "data: [DONE]\n\n",
    ].join("");
  },
};

const responses: Wire = {
  hasResult: (body) => body.includes('"function_call_output"'),
  stream(answer) {
    let sequence_number = 0;
    const event = (type: string, data: object): string => named(type, { ...data, sequence_number: sequence_number++ });
    const response = {
      id: "resp_1",
      object: "response",
      created_at: 1,
      model: "bench",
      status: "in_progress",
      output: [],
    };
    const usage = {
      input_tokens: 200,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 220,
    };
    const { item, events } = "text" in answer ? messageItem(answer.text, event) : callItem(answer.call, event);
    const end = { ...response, status: "completed", output: [item], usage };
    return [event("response.created", { response }), ...events(), event("response.completed", { response: end })].join(
      "",
    );
  },
};

type Event = (type: string, data: object) => string;

function messageItem(text: string, event: Event) {
  const part = { type: "output_text", text, annotations: [] };
  const item = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [part] };
  const position = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const events = (): string[] => [
    event("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress", content: [] } }),
    event("response.content_part.added", { ...position, part: { ...part, text: "" } }),
    ...piecesOf(text).map((delta) => event("response.output_text.delta", { ...position, delta })),
    event("response.output_text.done", { ...position, text }),
    event("response.content_part.done", { ...position, part }),
    event("response.output_item.done", { output_index: 0, item }),
  ];
  return { item, events };
}

function callItem({ name, args }: { name: string; args: object }, event: Event) {
  const text = JSON.stringify(args);
  const id = `fc_${calls++}`;
  const item = { id, type: "function_call", call_id: `call_${id}`, name, arguments: text, status: "completed" };
  const position = { item_id: id, output_index: 0 };
  const events = (): string[] => [
    event("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress", arguments: "" } }),
    ...piecesOf(text).map((delta) => event("response.function_call_arguments.delta", { ...position, delta })),
    event("response.function_call_arguments.done", { ...position, arguments: text }),
    event("response.output_item.done", { output_index: 0, item }),
  ];
  return { item, events };
}

/** By the path that each SDK asks at. */
export const wires: Readonly<Record<string, Wire>> = {
  "/v1/messages": anthropic,
  "/v1/chat/completions": chat,
  "/v1/responses": responses,
};
