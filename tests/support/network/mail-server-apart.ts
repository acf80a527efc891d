// A mail server in a thread of its own: an operator's mail server is another machine, which no
// flood of the service keeps busy.
import { once } from 'node:events'
import { type MessagePort, parentPort, Worker } from 'node:worker_threads'
import { MailServer, type ReceivedMail } from './mail-server.ts'

/** `mails`: those that the server has received until now. */
export async function startMailServerApart() {
  const worker = new Worker(new URL(import.meta.url))
  // A test that fails does not wait for its mail server.
  worker.unref()
  const [url] = (await once(worker, 'message')) as [string]
  const mails: ReceivedMail[] = []
  worker.on('message', (mail: ReceivedMail) => {
    mails.push(mail)
  })
  return { url, mails, stop: () => worker.terminate() }
}

if (parentPort !== null) await receive(parentPort)

async function receive(test: MessagePort): Promise<void> {
  const { url } = await MailServer.start({ onMail: (mail) => test.postMessage(mail) })
  test.postMessage(url)
}
