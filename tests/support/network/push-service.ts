// For tests: a push service on this machine (RFC 8030) with the browsers that subscribe to it. It checks who sends (RFC 8292), decrypts what a browser
// would get (RFC 8291), and answers as a test says.
import assert from 'node:assert/strict'
import { createECDH, createPublicKey, type ECDH, randomBytes, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { decrypt } from 'http_ece'

/** As `PushSubscription.toJSON()` has it. */
export type BrowserSubscription = { endpoint: string; keys: { p256dh: string; auth: string } }

type Payload = {
  web_push: number
  app_badge: number
  unread: string[]
  notification: {
    title: string
    body?: string
    navigate: string
    lang: string
    tag: string
    app_badge: string
    data: { ids: string[] }
  }
}

export type ReceivedPush = {
  path: string
  ttl: string
  topic: string
  urgency: string
  payload: Payload
  /** In bytes, before and after encryption. */
  size: number
  encrypted: number
  claims: { aud: string; exp: number; sub?: string }
  publicKey: string
}

type Answer = (response: ServerResponse) => void

export class PushService {
  readonly pushes: ReceivedPush[] = []
  /** How many requests came, also those that it refused. */
  requests = 0
  /** How it answers; 201 without it. */
  answer: Answer = (response) => response.writeHead(201).end()
  readonly #browsers = new Map<string, { keys: ECDH; auth: string }>()
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response))
  }

  static async start(): Promise<PushService> {
    const service = new PushService()
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve))
    return service
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** For CARILLON_PUSH_HOSTS. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  subscribe(): BrowserSubscription {
    const keys = createECDH('prime256v1')
    keys.generateKeys()
    const auth = randomBytes(16).toString('base64url')
    const path = `/push/${randomBytes(9).toString('base64url')}`
    this.#browsers.set(path, { keys, auth })
    return {
      endpoint: `http://${this.host}${path}`,
      keys: { p256dh: keys.getPublicKey('base64url'), auth },
    }
  }

  pushesTo({ endpoint }: BrowserSubscription): ReceivedPush[] {
    return this.pushes.filter(({ path }) => endpoint.endsWith(path))
  }

  /** Resolves when so many requests have come. */
  async requested(count: number): Promise<void> {
    while (this.requests < count) await sleep(5)
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    this.pushes.push(this.read(request.url ?? '', request.headers, Buffer.concat(chunks)))
    this.requests++
    this.answer(response)
  }

  /** Throws if a browser, or a push service, would refuse it. */
  read(path: string, headers: IncomingMessage['headers'], body: Buffer): ReceivedPush {
    const browser = this.#browsers.get(path) ?? assert.fail(`no browser has ${path}`)
    assert.equal(headers['content-encoding'], 'aes128gcm')
    const [, token = '', publicKey = ''] =
      /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(headers.authorization ?? '') ?? []
    const text = decrypt(body, {
      version: 'aes128gcm',
      privateKey: browser.keys,
      authSecret: browser.auth,
    })
    return {
      path,
      ttl: String(headers.ttl),
      topic: String(headers.topic ?? ''),
      urgency: String(headers.urgency ?? ''),
      payload: JSON.parse(text.toString()),
      size: text.length,
      encrypted: body.length,
      claims: claimsOf(token, publicKey),
      publicKey,
    }
  }
}

/** Checks the signature by `node:crypto` alone, and not by the library that signs. */
function claimsOf(token: string, publicKey: string): ReceivedPush['claims'] {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(publicKey, 'base64url')
  const x = point.subarray(1, 33).toString('base64url')
  const y = point.subarray(33).toString('base64url')
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const signed = Buffer.from(`${header}.${claims}`)
  const isSigned = verify(
    'sha256',
    signed,
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  assert.ok(isSigned, 'the signature is not that of the key')
  assert.equal(JSON.parse(Buffer.from(header, 'base64url').toString()).alg, 'ES256')
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}
