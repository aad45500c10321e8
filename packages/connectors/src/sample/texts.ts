/** A mail thread of the sample office: a subject, and the messages in their order. */
export interface SampleThread {
  /** Days before now of the first message. Each reply follows some hours later. */
  daysAgo: number;
  subject: string;
  /** `me` is the user. */
  messages: readonly { from: string; to: readonly string[]; body: string }[];
  /** The name of a file on the first message. */
  attachment?: string;
}

export const threads: readonly SampleThread[] = [
  {
    daysAgo: 1,
    subject: "Project Alpha: beta on Friday?",
    messages: [
      {
        from: "mara",
        to: ["me", "tomas", "jonas"],
        body: "Hi all,\n\nare we still on track for the beta on Friday? I would like to tell Acme today.\n\nMara",
      },
      {
        from: "jonas",
        to: ["mara", "me", "tomas"],
        body: "The app is ready. One crash on old Android phones is open, and I expect to fix it tomorrow.",
      },
      {
        from: "tomas",
        to: ["mara", "me", "jonas"],
        body: "The servers are ready too. I moved the load test to Thursday morning.",
      },
    ],
  },
  {
    daysAgo: 2,
    subject: "Invoice 2041",
    attachment: "invoice-2041.pdf",
    messages: [
      {
        from: "victor",
        to: ["me"],
        body: "Hello,\n\nplease find attached the invoice for this month: 1,240.00 EUR, due in 30 days.\n\nBest regards,\nVictor Osei\nNorthgate Hosting",
      },
      { from: "me", to: ["victor"], body: "Thanks, Victor. I passed it on to Sofia." },
    ],
  },
  {
    daysAgo: 3,
    subject: "Contract renewal",
    attachment: "acme-contract-draft.pdf",
    messages: [
      {
        from: "john",
        to: ["me", "ruth"],
        body: "Dear team,\n\nour contract ends next month. We would like to renew for two years, with 40 more seats. Could you send an offer this week?\n\nJohn Carver\nAcme Corp",
      },
      {
        from: "ruth",
        to: ["john", "me"],
        body: "Hi John,\n\nthat is good news. You will have the offer by Thursday.\n\nRuth",
      },
      { from: "john", to: ["ruth", "me"], body: "Perfect. Sarah will join our next call, she owns the rollout." },
    ],
  },
  {
    daysAgo: 5,
    subject: "Budget for the next quarter",
    attachment: "budget-draft.xlsx",
    messages: [
      {
        from: "sofia",
        to: ["me", "mara", "ruth"],
        body: "Hello everyone,\n\nplease check the budget draft and send me your numbers by the end of the month. Travel is capped at 8,000 EUR.\n\nSofia",
      },
      {
        from: "mara",
        to: ["sofia", "me"],
        body: "Product needs 4,500 EUR for user tests. Everything else looks right to me.",
      },
    ],
  },
  {
    daysAgo: 6,
    subject: "Your trip to London",
    attachment: "itinerary.pdf",
    messages: [
      {
        from: "ines",
        to: ["me"],
        body: "Good morning,\n\nyour flights are booked: out on Monday at 07:40, back on Wednesday at 18:15. The hotel is near Paddington.\n\nInês Duarte",
      },
      { from: "me", to: ["ines"], body: "Wonderful, thank you. Please add one suitcase." },
    ],
  },
  {
    daysAgo: 8,
    subject: "New logo drafts",
    attachment: "logo-drafts.png",
    messages: [
      {
        from: "priya",
        to: ["me", "mara"],
        body: "Three drafts are attached. I prefer the second one, because it stays readable at small sizes.",
      },
      { from: "mara", to: ["priya", "me"], body: "The second one, clearly." },
    ],
  },
  {
    daysAgo: 9,
    subject: "Data protection questions",
    messages: [
      {
        from: "carl",
        to: ["me"],
        body: "Hello,\n\nbefore we sign we need three answers: where is the data stored, how long is it kept, and which people can read it?\n\nCarl Jensen\nLegal, Globex",
      },
      {
        from: "me",
        to: ["carl"],
        body: "Hello Carl,\n\nthe data is stored in Frankfurt, deleted after 90 days, and read by our support team with a ticket only.\n\nBest regards",
      },
      { from: "carl", to: ["me"], body: "Thank you, that answers our questions." },
    ],
  },
  {
    daysAgo: 12,
    subject: "Support figures of last month",
    messages: [
      {
        from: "omar",
        to: ["me", "mara"],
        body: "Last month in short: 412 tickets, 94 % answered within a day, satisfaction 4.6 of 5. The login problem caused a third of them.",
      },
    ],
  },
  {
    daysAgo: 15,
    subject: "Partner programme",
    messages: [
      {
        from: "nadia",
        to: ["me", "leon"],
        body: "Hi both,\n\nwould a joint webinar in six weeks work for you? We can invite 2,000 customers.\n\nNadia",
      },
      { from: "leon", to: ["nadia", "me"], body: "Yes, with pleasure. I will draft the agenda." },
    ],
  },
  {
    daysAgo: 20,
    subject: "Holiday plan",
    messages: [
      {
        from: "greta",
        to: ["me"],
        body: "Please enter your holidays for the summer by the end of next week. At most two people of a team can be away at once.",
      },
    ],
  },
  {
    daysAgo: 27,
    subject: "Outage on Sunday: report",
    attachment: "outage-report.pdf",
    messages: [
      {
        from: "tomas",
        to: ["me", "mara", "omar"],
        body: "The report is attached. Short version: a certificate expired, alarms went to an old list, and we were down for 52 minutes. Both are fixed.",
      },
      { from: "omar", to: ["tomas", "me"], body: "Thanks. I sent an apology to the 31 customers who wrote to us." },
    ],
  },
  {
    daysAgo: 34,
    subject: "Welcome, Aiko!",
    messages: [
      {
        from: "greta",
        to: ["me", "aiko", "mara"],
        body: "Aiko joins us today as data analyst. Please say hello, and show her around.",
      },
    ],
  },
];

/** A conversation of a channel: the first message, and the replies in its thread. */
export interface SampleConversation {
  daysAgo: number;
  channel: string;
  messages: readonly { from: string; text: string }[];
  reaction?: string;
}

const talk = (daysAgo: number, channel: string, ...lines: string[]): SampleConversation => ({
  daysAgo,
  channel,
  messages: lines.map((line) => ({ from: line.slice(0, line.indexOf(":")), text: line.slice(line.indexOf(":") + 2) })),
});

export const conversations: readonly SampleConversation[] = [
  talk(
    0,
    "project-alpha",
    "mara: Acme confirmed: they test the beta with 20 people from Monday.",
    "jonas: Great. I add crash reports for them today.",
    "priya: I have a short guide for testers ready.",
  ),
  talk(
    1,
    "project-alpha",
    "tomas: Decision needed: do we store push tokens in the user table or in their own table?",
    "jonas: Own table, a user can have several devices.",
    "tomas: Agreed, own table. I migrate tonight.",
  ),
  talk(
    1,
    "project-alpha",
    "jonas: The crash on Android 9 is fixed in build 214.",
    "mara: Thank you! Is it in the store?",
    "jonas: In review, it takes a day.",
  ),
  talk(
    2,
    "project-alpha",
    "priya: New onboarding screens are in the design file. Feedback until Thursday, please.",
    "mara: Love them. Can we shorten step 2?",
    "priya: Yes, I merge steps 2 and 3.",
  ),
  talk(
    3,
    "project-alpha",
    "mara: We decided in the review: no tablet layout in the beta.",
    "jonas: Good, that saves me three days.",
  ),
  talk(
    4,
    "project-alpha",
    "aiko: 38 % of users never finish the registration. Most of them stop at the phone number.",
    "mara: Then the number becomes optional. @jonas can you do that before Friday?",
    "jonas: Yes.",
  ),
  talk(6, "project-alpha", "tomas: Load test: 900 requests per second, p99 at 180 ms. Good enough for the beta."),
  talk(
    0,
    "general",
    "greta: Lunch for everyone on Thursday at 12:30. Please vote: ramen or pizza?",
    "omar: Ramen!",
    "tomas: Pizza.",
    "aiko: Ramen.",
  ),
  talk(2, "general", "sofia: Reminder: send me your travel costs by the end of the month."),
  talk(
    5,
    "general",
    "ruth: We won the Globex deal!",
    "mara: Congratulations, team sales!",
    "leon: Thanks all, that was a long one.",
  ),
  talk(9, "general", "greta: The office is closed on the first Monday of next month."),
  talk(
    1,
    "support",
    "omar: Three customers cannot log in since this morning.",
    "tomas: A cache held old keys. It is fixed, please ask them to try again.",
    "omar: All three are in.",
  ),
  talk(3, "support", "omar: Customers ask for an export to Excel. Is it planned?", "mara: Yes, after the beta."),
  talk(
    0,
    "sales",
    "ruth: Acme wants 40 more seats. The offer goes out on Thursday.",
    "leon: I check the discount with Sofia.",
  ),
  talk(4, "sales", "leon: Globex signed the data protection annex."),
];
