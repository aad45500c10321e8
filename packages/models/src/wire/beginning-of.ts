/**
 * What a response says, up to so many characters: whoever sends without an end is not listened to without one. Throws
 * where the connection breaks.
 *
 * @example
 * const text = await beginningOf(response, 64 * 1024);
 */
export async function beginningOf({ body }: Response, charactersMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= charactersMax) break;
  }
  return text.slice(0, charactersMax);
}

/** Far more than any server has to say of an error. */
const errorCharactersMax = 64 * 1024;

/** A refusal, of which the SDKs would read everything; whatever else comes is left as it is. */
export async function withShortError(response: Response): Promise<Response> {
  if (response.ok || !response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(await beginningOf(response, errorCharactersMax), { status, statusText, headers });
}
