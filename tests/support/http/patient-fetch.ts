// Sends a request once more if its idle connection was closed: a test that keeps the event loop
// busy for longer than the service keeps an idle connection uses a closed one. A fault of the
// service would fail the second request too.

export async function patientFetch(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (isClosedConnection(error as Error)) return fetch(url, init)
    throw error
  }
}

function isClosedConnection({ cause }: Error): boolean {
  return ['ECONNRESET', 'UND_ERR_SOCKET'].includes(
    (cause as NodeJS.ErrnoException | undefined)?.code ?? '',
  )
}
