import { agentListTokensDefault, leaseMsDefault } from "@troupe/core/internal";

/** A configuration without settings, with every setting explained in comments. */
export const configTemplate = `# Configuration of troupe. Every setting is optional and applies to you on this machine.
#
# These override this file: flags, then variables, then .troupe/config.yaml of the project, which can set model, team,
# models, aliases and roles only. To see every setting and its origin: troupe config list --show-origin
#
# Do not write keys here. troupe reads them from variables: ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY,
# DEEPSEEK_API_KEY, or the variable that a provider below names.

# The default model: provider/model, an alias, or a name from models below. TROUPE_MODEL and --model override it.
# Without it, troupe uses the medium model of the first provider whose key is set.
# model: anthropic/claude-sonnet-5

# The team of tasks that name neither a team nor an agent. TROUPE_TEAM and --team override it. Without it, the agent main
# gets the task. To list teams: troupe teams ls
# team: coding

# Other names for models. troupe looks up an id here if its first part is not a configured provider.
# models:
#   deepseek-chat: openrouter/deepseek/deepseek-chat
#   qwen/qwen3-coder-30b: ollama/qwen3-coder:30b

# Models for the size names in agent files. Without it, they are the sizes of the session's provider; with a local
# provider they are the session's model.
# aliases:
#   opus: anthropic/claude-opus-5-5
#   sonnet: anthropic/claude-sonnet-5
#   haiku: openai/gpt-6-luna

# The model of one agent. It overrides the agent's file. \`inherit\` is the model of its parent.
# roles:
#   coder: anthropic/claude-opus-5-5
#   researcher: haiku

# The model that answers when another one is not reachable.
# fallbacks:
#   anthropic/claude-sonnet-5: openai/gpt-6-sol

# Model servers. anthropic, openai, openrouter and deepseek need only their key. ollama, lmstudio and vllm on this
# machine need no setup.
# providers:
#   house:                                  # its model ids start with house/, such as house/qwen3
#     preset: vllm                          # takes the defaults of a known provider; without it, set wire
#     wire: openai-chat                     # anthropic, openai-chat or openai-responses
#     baseUrl: http://gpu.local:8000/v1
#     keyVariable: HOUSE_API_KEY            # the variable that holds its key
#     headers: {X-Team: research}           # sent with every request
#     limits:                               # for all agents together
#       concurrency: 4                      # requests at the same time
#       requestsPerMinute: 60
#       tokensPerMinute: 100000
#       idleTimeoutMs: 75s                  # or milliseconds; a request without data for this long fails
#     models:
#       qwen3:
#         price: {inputPerMillion: 0, outputPerMillion: 0}   # US dollars; without it, the cost is unknown
#         contextTokens: 32768

# NATS server with JetStream, over which daemons and workers share sessions. --nats, --context and NATS_URL override it.
# Without a server, everything runs in one process. Credentials come from files, or from the variables NATS_CREDS,
# NATS_NKEY, NATS_TOKEN, NATS_USER and NATS_PASSWORD, NATS_CA, NATS_CERT, NATS_KEY.
# nats:
#   servers: [nats://a:4222, nats://b:4222] # or one address
#   context: team                           # or a context of the NATS command line
#   namespace: troupe                       # separates several troupes on one server
#   creds: ~/team.creds                     # or nkey: a file with a seed, or user: a name
#   ca: ~/ca.pem                            # CA of the server's certificate; cert and key: your client certificate
#   tlsFirst: false                         # true starts TLS before the server's first message
#   inboxPrefix: _INBOX                     # subject prefix on which this user may receive replies
#   replicas: 3                             # copies of each stream, used when it is created
#   journalBytesMax: 10000000000            # size limit of the journal; likewise taskBytesMax, blobBytesMax
#   leaseMs: ${leaseMsDefault / 1_000}s                             # or milliseconds; time after which other hosts take the tasks of a dead host
#   keepDays: 7                             # days that a recorded, settled session stays on the server; 0: forever
#   place: disk-1                           # name of the disk with the workspaces, if several machines share it

# Sessions that a daemon deletes: settled ones, with their conversations and kept files. Without it, none. Sessions of the
# last hour stay.
# retention:
#   maxAge: 90d                             # sessions that settled longer ago
#   maxBytes: 5000000000                    # the oldest ones, until journal, record and kept files are smaller

# Programs that are told about events, signed as Standard Webhooks says (troupe webhooks --help).
# webhooks:
#   - url: https://example.org/hook         # 127.0.0.1 is allowed here; other private addresses need policy.yaml
#     events: [session.settled, approval.requested]
#     secretVariable: HOOK_SECRET           # name of the variable with the secret, whsec_…

# What a model reads of the agents that it may delegate to.
# delegation:
#   listTokens: ${agentListTokensDefault}                        # limit of the list; over it, descriptions are cut, and find_agent searches them
#   hints: on                               # off: the list does not say how earlier runs of an agent went

# Whose mail, calendar, contacts and channels the team office uses. Without it: a local office of a local user.
# office:
#   name: Kim Adler
#   address: kim@acme.example
#   timeZone: Europe/Berlin                 # default: the zone of this machine
#   domains: [acme.example]                 # your own; mail to others waits for approval. Default: that of your address
#   connections:                            # ids of troupe connections ls; default: the one account that has the domain,
#     email: google/kim@acme.example        # else the local office, whose id is local
`;
