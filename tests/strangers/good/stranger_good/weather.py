"""A tool in twelve lines."""

from typing import Annotated

from pydantic import Field

from lockgate import ToolOutboundData, tool


@tool(outbound_data=ToolOutboundData.NONE)
def get_weather(city: Annotated[str, Field(description="the city, such as Bremen")]) -> dict[str, object]:
    """Tell the weather in a city, as it was when this pack was written."""
    return {"city": city, "degrees": 7, "sky": "überwiegend bewölkt"}
