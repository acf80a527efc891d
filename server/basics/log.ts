// No code logs secrets; redaction is a second protection.
import { Writable } from 'node:stream'
import { type Logger, pino, stdSerializers } from 'pino'
import { escapeControls } from './control-characters.ts'
import { traceOf } from './traces.ts'

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'
/** docs/operations/log-events.md explains every event (A16). */
type Write = (fields: { event: string; [name: string]: unknown }, message?: string) => void
export type Log = Readonly<Record<Level, Write>> & Pick<Logger, 'isLevelEnabled'>

const secrets = ['password', 'token', 'cookie', 'authorization', 'secret', 'key', 'passwordHash']
const redact = [...secrets, ...secrets.map((name) => `*.${name}`), 'req.headers', 'res.headers']

/** pino-pretty prints stacks unescaped, and no client's text may control the terminal. */
const serializers = {
  err(error: unknown) {
    if (!(error instanceof Error)) return error
    const { message, stack, problem: _, ...more } = stdSerializers.err(error)
    return { ...more, message: escapeControls(message), stack: escapeControls(stack) }
  },
}

function traced({ requestId }: { requestId?: string }) {
  const traceId = requestId === undefined ? undefined : traceOf(requestId)
  return traceId === undefined ? {} : { trace_id: traceId }
}

export async function createLog({
  level,
  isTerminal,
}: {
  level: string
  isTerminal: boolean
}): Promise<Logger> {
  const options = { level, redact, serializers, base: null, mixin: traced }
  if (!isTerminal) return pino({ ...options, hooks: { streamWrite: escapeControls } })
  const { default: pretty } = await import('pino-pretty')
  return pino(
    options,
    pretty({ colorize: true, singleLine: true, translateTime: 'HH:MM:ss', destination: terminal }),
  )
}

const terminal = new Writable({
  decodeStrings: false,
  write(text: string, _encoding, done) {
    process.stdout.write(text.split('\u001b').map(escapeControls).join('\u001b'))
    done()
  },
})
