"""The official `openai` package against the service: what it asks of other paths than those of conversation."""

import base64
import io
import wave

import openai
from scenarios import PICTURE, added, each, value


def sound(seconds):
    """A sound of silence, as a file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writing:
        writing.setnchannels(1)
        writing.setsampwidth(2)
        writing.setframerate(8000)
        writing.writeframes(bytes(16000 * seconds))
    return ("speech.wav", file.getvalue(), "audio/wav")


def tokens_of(usage):
    return [usage.input_tokens, usage.output_tokens]


def kind_of(image):
    return base64.b64decode(image.b64_json)[1:4].decode()


async def responses(run):
    client = run.client()
    first = await value(client.responses.create(model=run.model, input=run.said))
    going_on = {"input": "and on [[output=2]]", "previous_response_id": first.id}
    last = await value(client.responses.create(model=run.model, **going_on))
    return {
        "text": first.output_text,
        "again": last.output_text,
        "tokens": added(tokens_of(first.usage), tokens_of(last.usage)),
    }


async def responses_streamed(run):
    events = await value(run.client().responses.create(model=run.model, input=run.said, stream=True))
    text, final = "", None
    async for event in each(events):
        if event.type == "response.output_text.delta":
            text += event.delta
        if event.type == "response.completed":
            final = event.response
    return {"text": text, "alike": final.output_text == text, "tokens": tokens_of(final.usage)}


async def responses_kept(run):
    client = run.client()
    made = await value(client.responses.create(model=run.model, input=run.said))
    found = await value(client.responses.retrieve(made.id))
    await value(client.responses.delete(made.id))
    try:
        await value(client.responses.retrieve(made.id))
    except openai.APIError as error:
        gone = type(error).__name__
    return {"alike": found.output_text == made.output_text, "gone": gone}


async def completions(run):
    answer = await value(run.client().completions.create(model=run.model, prompt=run.said, max_tokens=100))
    usage = answer.usage
    return {"text": answer.choices[0].text.strip(), "tokens": [usage.prompt_tokens, usage.completion_tokens]}


async def completions_streamed(run):
    asked = {"model": run.model, "prompt": run.said, "max_tokens": 100}
    options = {"include_usage": True}
    events = await value(run.client().completions.create(**asked, stream=True, stream_options=options))
    text, tokens = "", None
    async for chunk in each(events):
        text += chunk.choices[0].text if chunk.choices else ""
        if chunk.usage:
            tokens = [chunk.usage.prompt_tokens, chunk.usage.completion_tokens]
    return {"text": text.strip(), "tokens": tokens}


async def embeddings(run):
    asked = {"input": [run.said, "three four"], "dimensions": 8}
    answer = await value(run.client().embeddings.create(model=run.model, **asked))
    return {"lengths": [len(one.embedding) for one in answer.data], "tokens": [answer.usage.prompt_tokens, 0]}


async def images(run):
    answer = await value(run.client().images.generate(model=run.model, prompt=run.said))
    return {"kind": kind_of(answer.data[0]), "tokens": tokens_of(answer.usage)}


async def images_streamed(run):
    asked = {"model": run.model, "prompt": run.said, "partial_images": 1}
    events = await value(run.client().images.generate(**asked, stream=True))
    seen = [event async for event in each(events)]
    return {"events": len(seen), "kind": kind_of(seen[-1]), "tokens": tokens_of(seen[-1].usage)}


async def image_edit(run):
    picture = ("boat.png", base64.b64decode(PICTURE), "image/png")
    answer = await value(run.client().images.edit(model=run.model, prompt=run.said, image=[picture, picture]))
    return {"kind": kind_of(answer.data[0]), "tokens": tokens_of(answer.usage)}


async def speech(run):
    answer = await value(run.client().audio.speech.create(model=run.model, input=run.said, voice="alloy"))
    return {"bytes": len(await value(answer.read()))}


async def transcribed(run, form):
    asked = {"model": run.model, "prompt": run.said, "file": sound(6), "response_format": form}
    return await value(run.client().audio.transcriptions.create(**asked))


async def transcription(run):
    return {"text": (await transcribed(run, "json")).text}


async def transcription_verbose(run):
    answer = await transcribed(run, "verbose_json")
    return {"text": answer.text, "duration": answer.duration, "segments": len(answer.segments)}


async def transcription_srt(run):
    return {"text": await transcribed(run, "srt")}


async def moderations(run):
    answer = await value(run.client().moderations.create(model=run.model, input=run.said))
    return {"flagged": [result.flagged for result in answer.results]}


ENDPOINTS = [
    responses,
    responses_streamed,
    responses_kept,
    completions,
    completions_streamed,
    embeddings,
    images,
    images_streamed,
    image_edit,
    speech,
    transcription,
    transcription_verbose,
    transcription_srt,
    moderations,
]
