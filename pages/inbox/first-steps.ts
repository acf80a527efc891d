// The first steps of a new service: a list that ticks itself.
import type { CarillonInbox } from 'carillon-inbox'
import { send } from '../account/requests.ts'
import { addCopyButtons } from '../docs/copy-buttons.ts'

export function startFirstSteps(steps: HTMLElement, inbox: CarillonInbox): void {
  const find = <Found extends HTMLElement>(selector: string) =>
    steps.querySelector(selector) as Found
  const root = new URL(inbox.dataset.root || './', location.href)
  const button = find<HTMLButtonElement>('#send-test')
  const { title = '', sent = '', refused = '' } = button.dataset

  button.addEventListener('click', async () => {
    const sending = send(`${root.href}api/me/test-notification`, { method: 'POST' })
    find('[role=status]').textContent = await sending.then(
      () => sent,
      () => refused,
    )
  })
  void customElements.whenDefined('carillon-inbox').then(() => {
    const hasArrived = () => inbox.source.snapshot()?.items.some((one) => one.title === title)
    inbox.addController({ hostUpdated: () => hasArrived() && tick('#step-test') })
  })

  // The reader's address of the service may be another than the service knows.
  const lines = find('#bell-lines')
  lines.textContent = lines.textContent.replace(`${lines.dataset.url}/`, root.href)
  const field = find<HTMLInputElement>('#page-address')
  field.addEventListener('input', () => showSetting(field.value))
  showSetting(field.value)
  addEventListener('focus', () => void lookAgain())
  addCopyButtons(steps)

  function showSetting(address: string): void {
    const { origin = '', protocol = '' } = URL.parse(address) ?? {}
    const allowed = steps.dataset.origins?.split(' ').filter(Boolean) ?? []
    const isOther = /^https?:$/.test(protocol) && origin !== location.origin
    find('#bell-setting').hidden = !isOther
    find('#bell-setting pre').textContent =
      `CARILLON_ALLOWED_ORIGINS=${[...new Set([...allowed, origin])].join(',')}`
  }

  async function lookAgain(): Promise<void> {
    const text = await fetch(location.href).then(
      (response) => response.text(),
      () => '',
    )
    const page = new DOMParser().parseFromString(text, 'text/html')
    for (const { id } of page.querySelectorAll('.first-steps :checked')) tick(`#${id}`)
  }

  function tick(selector: string): void {
    find<HTMLInputElement>(selector).checked = true
  }
}
