// Runs Carillon for an example, and does there what the example's backend or its operator does.
import { createProducer, type Producer } from '../../../client/carillon-client.ts'
import { freePort } from '../../support/network/free-port.ts'
import { CarillonProcess, carillonJson, Folder } from '../../support/processes/carillon-process.ts'

export class RunningService implements AsyncDisposable {
  readonly url: string
  readonly folder: Folder
  /** Has the scopes `send` and `users`. */
  readonly key: string
  readonly producer: Producer
  readonly #process: CarillonProcess

  private constructor(
    process: CarillonProcess,
    { folder, url, key }: { folder: Folder; url: string; key: string },
  ) {
    this.#process = process
    this.folder = folder
    this.url = url
    this.key = key
    this.producer = createProducer({ baseUrl: url, key })
  }

  static async start(env: Record<string, string> = {}): Promise<RunningService> {
    const folder = new Folder()
    const port = await freePort()
    const process = await CarillonProcess.ready(folder, {
      env: { ...env, CARILLON_PORT: String(port) },
    })
    const args = ['key', 'add', 'application', '--scope', 'send,users']
    const { key } = await carillonJson(folder, args)
    return new RunningService(process, {
      folder,
      url: `http://127.0.0.1:${port}`,
      key,
    })
  }

  get settings(): Record<string, string> {
    return { CARILLON_URL: this.url, CARILLON_PRODUCER_KEY: this.key }
  }

  async stop(): Promise<void> {
    await this.#process.end('SIGTERM')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }
}
