// A real SMTP server on this machine that keeps what it receives.
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'

/** All mails of one connection have the same port, that of the client. */
export type ReceivedMail = {
  from: string
  to: string[]
  raw: string
  user: string | undefined
  isTls: boolean
  port: number
}

type Behaviour = {
  auth?: { user: string; password: string }
  /** Without it, the server offers no STARTTLS. */
  hasTls?: boolean
  onMail?: (mail: ReceivedMail) => void
}

/** A mail program shows the subject and both parts so: each part is encoded as its header says. */
export function shownMail({ raw }: ReceivedMail): {
  subject: string
  sender: string
  text: string
  html: string
} {
  const [head = ''] = raw.split('\r\n\r\n')
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? ''
  const [, text = '', html = ''] = raw.split(`--${boundary}`).map(decodedPart)
  const field = (name: string) =>
    decodedWords(new RegExp(`^${name}: (.*(?:\r\n .*)*)`, 'im').exec(head)?.[1] ?? '')
  return { subject: field('Subject'), sender: field('From'), text, html }
}

function decodedPart(part: string): string {
  const at = part.indexOf('\r\n\r\n')
  const body = part.slice(at + 4).replaceAll('\r\n', '\n')
  const encoding = /^Content-Transfer-Encoding: (\S+)/im.exec(part.slice(0, at))?.[1]
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? decodedQuoted(body.replaceAll('=\n', '')) : body
}

function decodedWords(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : decodedQuoted(word.replaceAll('_', ' ')),
    )
}

function decodedQuoted(text: string): string {
  const bytes = text.replaceAll(/=([\dA-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}

export class MailServer {
  readonly mails: ReceivedMail[] = []
  /** They wait until `isHolding` is set to false. */
  get held(): number {
    return this.#held.length
  }
  readonly #held: (() => void)[] = []
  #isHolding = false
  /** While it is set, the server receives mails and answers none. */
  set isHolding(isHolding: boolean) {
    this.#isHolding = isHolding
    if (!isHolding) for (const answer of this.#held.splice(0)) answer()
  }
  /** A client may have connected in order to send a mail: then it is not idle. */
  get isIdle(): boolean {
    return this.#senders.size === 0
  }
  /** A connection stays open between two mails, so its port tells who sends. */
  readonly #senders = new Set<number | undefined>()
  readonly #connections = new Set<Socket>()
  isRefusing = false
  /** Mails to these addresses are refused for good: 550 after RCPT. */
  readonly unknown = new Set<string>()
  refused = 0
  readonly #server: SMTPServer

  private constructor({ auth, hasTls = true, onMail }: Behaviour) {
    this.#server = new SMTPServer({
      authOptional: auth === undefined,
      disabledCommands: hasTls ? [] : ['STARTTLS'],
      allowInsecureAuth: !hasTls,
      logger: false,
      onAuth: ({ username, password }, _, done) => {
        if (username === auth?.user && password === auth?.password) done(null, { user: username })
        else done(new Error('wrong user or password'))
      },
      onMailFrom: (_, { remotePort }, done) => {
        // A client that left meanwhile sends nothing.
        const isOpen = [...this.#connections].some((socket) => socket.remotePort === remotePort)
        if (isOpen) this.#senders.add(remotePort)
        done()
      },
      onRcptTo: ({ address }, _, done) => {
        if (!this.unknown.has(address)) return done()
        done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }))
      },
      onData: (stream, session, done) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          this.#senders.delete(session.remotePort)
          if (this.isRefusing) {
            this.refused++
            return done(new Error('the mailbox is full'))
          }
          const { mailFrom, rcptTo } = session.envelope
          const from = mailFrom === false ? '' : mailFrom.address
          const raw = Buffer.concat(chunks).toString('utf8')
          const to = rcptTo.map(({ address }) => address)
          const { user, secure: isTls, remotePort: port } = session
          const mail = { from, to, raw, user, isTls, port }
          this.mails.push(mail)
          onMail?.(mail)
          if (this.#isHolding) this.#held.push(done)
          else done()
        })
      },
    })
    this.#server.server.on('connection', (socket: Socket) => {
      const { remotePort } = socket
      this.#senders.add(remotePort)
      this.#connections.add(socket)
      socket.on('close', () => {
        this.#senders.delete(remotePort)
        this.#connections.delete(socket)
      })
    })
    // A client that refuses the certificate ends the connection.
    this.#server.on('error', () => {})
  }

  static async start(behaviour: Behaviour = {}): Promise<MailServer> {
    const server = new MailServer(behaviour)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get port(): number {
    const address = this.#server.server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`
  }

  async received(count: number): Promise<ReceivedMail[]> {
    const from = performance.now()
    while (this.mails.length < count) {
      if (performance.now() > from + 60_000)
        throw new Error(`received ${this.mails.length} of ${count} mails`)
      await sleep(10)
    }
    return this.mails
  }

  async receivedBy(address: string): Promise<ReceivedMail> {
    for (let count = 1; ; count++) {
      const mails = await this.received(count)
      const mail = mails.find(({ to }) => to.includes(address))
      if (mail !== undefined) return mail
      count = mails.length
    }
  }

  /** A server does so with a connection that is idle. */
  disconnect(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
