import type { Notification } from '../../client/transport/types.ts'

type Text = readonly [title: string, body: string | null, category: string | null]

/** In minutes. */
const ages = [2, 18, 60, 190, 1560, 2990, 4430]

const action = (label: string) => ({ label, url: '/?state=one' })
const face = (name: string) => ({ name, imageUrl: `/${name.toLowerCase().replace(' ', '-')}.svg` })
const buttons = { en: ['Open the log', 'Deploy again'], ar: ['فتح السجل', 'النشر من جديد'] }
const looks = (language: string): readonly Partial<Notification>[] => [
  { actor: face('Ada Okafor'), icon: 'message' },
  {
    icon: 'error',
    format: 'markdown',
    actions: buttons[language === 'ar' ? language : 'en'].map(action),
  },
  { icon: 'money' },
  { actor: face('Jonas Weber'), icon: 'user' },
  { icon: 'check' },
  { icon: 'warning' },
  { actor: { name: 'Harbour', imageUrl: null } },
]

const texts: Record<string, readonly Text[]> = {
  en: [
    [
      'Ada Okafor mentioned you',
      '“Could you look at the second diagram before we publish it on Monday?”',
      'Comments',
    ],
    [
      'Deploy to production failed',
      'The health check of `web-3` **timed out**. The previous version is [still running](/?state=many).',
      'Deploys',
    ],
    ['Your invoice for November is ready', null, 'Billing'],
    ['Jonas Weber joined the team', 'Jonas can now see the projects Atlas and Harbour.', 'Team'],
    ['The export of 12,480 orders is complete', 'The file is available for seven days.', 'Reports'],
    [
      'Storage is 80 % full',
      'At the present rate it will be full in about three weeks.',
      'Account',
    ],
    ['Welcome to Harbour', 'This is where your notifications appear.', null],
  ],
  ar: [
    [
      'أشارت إليك آدا أوكافور',
      '«هل يمكنك مراجعة المخطط الثاني قبل النشر يوم الاثنين؟»',
      'التعليقات',
    ],
    [
      'فشل النشر إلى بيئة الإنتاج',
      '**انتهت مهلة** فحص الخادم `web-3`، وما زالت [النسخة السابقة](/?state=many) تعمل.',
      'النشر',
    ],
    ['فاتورتك لشهر نوفمبر جاهزة', null, 'الفواتير'],
    ['انضم يوناس فيبر إلى الفريق', 'يستطيع يوناس الآن رؤية مشروعي أطلس والميناء.', 'الفريق'],
    ['اكتمل تصدير الطلبات', 'يبقى الملف متاحًا سبعة أيام.', 'التقارير'],
    ['امتلأت مساحة التخزين بنسبة 80%', 'بهذا المعدل ستمتلئ خلال ثلاثة أسابيع تقريبًا.', 'الحساب'],
    ['مرحبًا بك في الميناء', 'هنا تظهر إشعاراتك.', null],
  ],
}

const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
const longTexts: readonly Text[] = [
  [word, `https://example.com/${'a-path-without-a-place-to-break'.repeat(8)}`, word],
  [
    'A title of two hundred characters '.repeat(6).slice(0, 200),
    'A body of four thousand characters. '.repeat(112).slice(0, 4000),
    'Reports',
  ],
  ['x'.repeat(200), '🔔'.repeat(120), 'c'.repeat(64)],
]

/** `now`: in milliseconds since 1970. */
export function samples(language: string, now: number): Notification[] {
  const list = texts[language] ?? texts.en ?? []
  return list.map((text, index) => ({
    ...notification(text, index, now - (ages[index] ?? 0) * 60_000),
    ...looks(language)[index],
    read: index >= 3,
    count: index === 1 ? 3 : 1,
  }))
}

export function manySamples(count: number, now: number): Notification[] {
  return Array.from({ length: count }, (_, index) => ({
    ...notification(
      [`Order ${count - index} was paid`, null, 'Orders'],
      index,
      now - index * 60_000,
    ),
    read: index >= 120,
  }))
}

export function longSamples(now: number): Notification[] {
  return longTexts.map((text, index) => notification(text, index, now - index * 60_000))
}

/** `index`: its place in the list, from 0 for the newest. */
export function notification(
  [title, body, category]: Text,
  index: number,
  at: number,
): Notification {
  const time = new Date(at).toISOString()
  return {
    id: `01a1fbae-026f-70d9-870c-${String(index).padStart(12, '0')}`,
    title,
    body,
    url: '/?state=bell',
    category,
    data: null,
    key: null,
    actor: null,
    icon: null,
    actions: null,
    format: 'text',
    priority: 'normal',
    createdAt: time,
    updatedAt: time,
    expiresAt: null,
    seq: 1_000_000 - index,
    count: 1,
    read: false,
    readAt: null,
    archivedAt: null,
    snoozedUntil: null,
  }
}
